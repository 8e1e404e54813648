import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import type { Account } from '../accounts/account.model.js';
import { parsePeriod } from '../shared/business-time.js';
import { now, nowMs } from '../shared/clock.js';
import { NotFoundError, RateLimitError } from '../shared/errors.js';
import { getStorableRequestId, newId } from '../shared/ids.js';
import { say } from '../shared/say.js';
import { tryToAddAndWait } from '../jobs/add-job.js';
import { generateReportJob, getReportPriority, sweepAfterMs, takeTurn } from './report-queue.js';
import { fileTypes } from './report-file.js';
import { ReportModel, type Report, type ReportFormat, type ReportType } from './report.model.js';
import { refundRateLimit, consumeRateLimit } from '../redis/rate-limit.js';

export interface ReportRequest {
  account: Account;
  type: ReportType;
  format: ReportFormat;
  startDate?: string | undefined;
  endDate?: string | undefined;
  /** Canonical name of the time zone, as src/shared/business-time.ts returns it. */
  zone?: string | undefined;
  /** Id of the API request. */
  requestId?: string;
}

const dayMs = 86_400_000;
const retentionMs = 7 * dayMs;

/**
 * Requests a report (docs/reference/api/reports.md) and waits up to REPORT_SYNC_WAIT_MS for a
 * worker to generate it. If the returned report is unfinished, generating it continues in the
 * background (decision 038).
 * @throws ValidationError if the period is invalid.
 * @throws RateLimitError (429/06) above REPORTS_PER_DAY.
 */
export async function requestReport(request: ReportRequest): Promise<Report> {
  const period = parsePeriod(request.startDate, request.endDate);
  await countRequest(request.account._id);
  const id = newId();
  const requestId = getStorableRequestId(request.requestId);
  const report: Report = {
    _id: id,
    accountId: request.account._id,
    role: request.account.role,
    type: request.type,
    format: request.format,
    period,
    ...(request.zone !== undefined && { zone: request.zone }),
    status: 'pending',
    summary: null,
    rows: null,
    size: null,
    filename: `${request.type}-report-${id.slice(0, 12)}.${fileTypes[request.format].extension}`,
    epoch: 0,
    isLong: isLong(period),
    turn: null,
    ...(requestId !== undefined && { requestId }),
    nextActionAt: new Date(nowMs() + sweepAfterMs.waiting),
    createdAt: now(),
    expiresAt: new Date(nowMs() + retentionMs),
  };
  try {
    await ReportModel.create(report);
  } catch (error) {
    // A request that failed must not count against the limit.
    await refundRateLimit(getLimitKey(report.accountId));
    throw error;
  }
  // Without a free turn, the end of an earlier report adds the job.
  if (await takeTurn(report)) {
    await tryToAddAndWait(
      generateReportJob,
      { reportId: id, accountId: report.accountId },
      { timeoutMs: env.REPORT_SYNC_WAIT_MS, priority: getReportPriority(report), requestId },
    );
  }
  return findReport(request.account._id, id);
}

function isLong({ start, end }: Report['period']): boolean {
  return end.getTime() - start.getTime() > limits.shortReportDaysMax * dayMs;
}

async function countRequest(accountId: string): Promise<void> {
  const limit = { max: env.REPORTS_PER_DAY, windowMs: dayMs, refunds: true } as const;
  const { accepted, resetMs } = await consumeRateLimit(getLimitKey(accountId), limit);
  if (!accepted) {
    throw new RateLimitError(
      say('tooManyReports', { max: limit.max, minutes: Math.ceil(resetMs / 60_000) }),
      Math.ceil(resetMs / 1_000),
    );
  }
}

function getLimitKey(accountId: string): string {
  return `reports:${accountId}`;
}

/**
 * Reads a report. Needs no majority read: a report whose completion a failover rolls back is
 * generated again.
 * @throws NotFoundError (404/02) if the account has no such report, or if it has expired.
 */
export async function findReport(accountId: string, reportId: string): Promise<Report> {
  const report = await ReportModel.findOne({
    _id: reportId,
    accountId,
    expiresAt: { $gt: now() },
  }).lean<Report>();
  if (!report) {
    throw buildReportNotFoundError(reportId);
  }
  return report;
}

export function buildReportNotFoundError(reportId: string): NotFoundError {
  return new NotFoundError(say('noReport', { id: reportId }));
}
