import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import type { Account } from '../accounts/account.model.js';
import { periodOf } from '../shared/business-time.js';
import { now, nowMs } from '../shared/clock.js';
import { NotFoundError, RateLimitError } from '../shared/errors.js';
import { keptRequestId } from '../shared/request-id.js';
import { say } from '../shared/say.js';
import { newId } from '../shared/ids.js';
import { tryToAddAndWait } from '../jobs/add-job.js';
import { generateReportJob } from './generate-report.job.js';
import { fileTypes } from './file-types.js';
import { ReportModel, type Report, type ReportFormat, type ReportType } from './report.model.js';
import { priorityOf, sweepAfterMs, takeTurn } from './report-turns.js';
import { giveBack, takeFromLimit } from '../redis/take-from-limit.js';

export interface ReportRequest {
  account: Account;
  type: ReportType;
  format: ReportFormat;
  startDate?: string | undefined;
  endDate?: string | undefined;
  /** By its one spelling, as src/shared/iso-time.ts gives it. */
  zone?: string | undefined;
  /** Of the call. */
  requestId?: string;
}

const dayMs = 86_400_000;
const keptMs = 7 * dayMs;

/**
 * Asks for a report (docs/reference/api/reports.md) and waits up to REPORT_SYNC_WAIT_MS for it. A worker makes it; the
 * result may still be under way, or wait for others of the account or for Redis, and then goes on (decision 038).
 * @throws ValidationError for an impossible period, RateLimitError (429/06) above REPORTS_PER_DAY.
 */
export async function requestReport(request: ReportRequest): Promise<Report> {
  const period = periodOf(request.startDate, request.endDate);
  await countRequest(request.account._id);
  const id = newId();
  const requestId = keptRequestId(request.requestId);
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
    expiresAt: new Date(nowMs() + keptMs),
  };
  try {
    await ReportModel.create(report);
  } catch (error) {
    // Who is told to ask again has used up nothing.
    await giveBack(limitKeyOf(report.accountId));
    throw error;
  }
  // One that waits for its turn is called by those before it.
  if (await takeTurn(report)) {
    await tryToAddAndWait(
      generateReportJob,
      { reportId: id, accountId: report.accountId },
      { timeoutMs: env.REPORT_SYNC_WAIT_MS, priority: priorityOf(report), requestId },
    );
  }
  return findReport(request.account._id, id);
}

function isLong({ start, end }: Report['period']): boolean {
  return end.getTime() - start.getTime() > limits.shortReportDaysMax * dayMs;
}

async function countRequest(accountId: string): Promise<void> {
  const limit = { max: env.REPORTS_PER_DAY, windowMs: dayMs, refunds: true } as const;
  const { accepted, resetMs } = await takeFromLimit(limitKeyOf(accountId), limit);
  if (!accepted) {
    throw new RateLimitError(
      say('tooManyReports', { max: limit.max, minutes: Math.ceil(resetMs / 60_000) }),
      Math.ceil(resetMs / 1_000),
    );
  }
}

function limitKeyOf(accountId: string): string {
  return `reports:${accountId}`;
}

/**
 * The newest state will do: a report whose end a failover takes back is made again.
 * @throws NotFoundError (404/02), also for another account's report and one whose 7 days are over.
 */
export async function findReport(accountId: string, reportId: string): Promise<Report> {
  const report = await ReportModel.findOne({
    _id: reportId,
    accountId,
    expiresAt: { $gt: now() },
  }).lean<Report>();
  if (!report) {
    throw reportNotFound(reportId);
  }
  return report;
}

export function reportNotFound(reportId: string): NotFoundError {
  return new NotFoundError(say('noReport', { id: reportId }));
}
