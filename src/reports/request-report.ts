import { env } from '../../config/env.js';
import type { Account } from '../accounts/account.model.js';
import { periodOf } from '../shared/business-time.js';
import { now, nowMs } from '../shared/clock.js';
import { NotFoundError } from '../shared/errors.js';
import { newId } from '../shared/ids.js';
import { addAndWait } from '../jobs/add-job.js';
import { generateReportJob } from './generate-report.job.js';
import { reportSweepAfterMs } from './report-outbox.js';
import { ReportModel, type Report, type ReportFormat, type ReportType } from './report.model.js';

export interface ReportRequest {
  account: Account;
  type: ReportType;
  format: ReportFormat;
  startDate?: string | undefined;
  endDate?: string | undefined;
}

const keptMs = 7 * 86_400_000;

/**
 * Asks for a report (docs/interface.md#reports) and waits up to REPORT_SYNC_WAIT_MS for it. A worker makes it; the
 * result may still be under way, and then goes on.
 * @throws ValidationError for an impossible period, DependencyError (503/03) while Redis is away.
 */
export async function requestReport(request: ReportRequest): Promise<Report> {
  const period = periodOf(request.startDate, request.endDate);
  const id = newId();
  const report: Report = {
    _id: id,
    accountId: request.account._id,
    role: request.account.role,
    type: request.type,
    format: request.format,
    period,
    status: 'pending',
    summary: null,
    rows: null,
    size: null,
    filename: `${request.type}-report-${id.slice(0, 12)}.${request.format}`,
    epoch: 0,
    nextActionAt: new Date(nowMs() + reportSweepAfterMs),
    createdAt: now(),
    expiresAt: new Date(nowMs() + keptMs),
  };
  await ReportModel.create(report);
  await addAndWait(generateReportJob, { reportId: id }, { timeoutMs: env.REPORT_SYNC_WAIT_MS });
  return findReport(request.account._id, id);
}

/** @throws NotFoundError (404/02), also for another account's report and one whose 7 days are over. */
export async function findReport(accountId: string, reportId: string): Promise<Report> {
  const report = await ReportModel.findOne({
    _id: reportId,
    accountId,
    expiresAt: { $gt: now() },
  }).lean<Report>();
  if (!report) {
    throw new NotFoundError(`There is no report ${reportId}. Reports are kept for 7 days.`);
  }
  return report;
}
