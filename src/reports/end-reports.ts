import { now } from '../shared/clock.js';
import { ReportModel, type Report } from './report.model.js';
import { startNextReports } from './report-queue.js';
import { defineScheduledJob } from '../jobs/sweep-job.js';
import { deleteEarlierFiles, deleteReportFile } from './report-file.js';

/**
 * Ends the purchase and sales reports of these accounts, finished or not. The reports and their
 * links can no longer be found, and a new report shows the current data. `removeExpiredReports`
 * deletes the files within a minute, or for a report in progress once its worker has stopped.
 * @returns The number of ended reports.
 */
export async function endReports(accountIds: string[]): Promise<number> {
  if (accountIds.length === 0) {
    return 0;
  }
  const at = now();
  const result = await ReportModel.updateMany(
    { accountId: { $in: accountIds }, type: { $ne: 'deposit' }, expiresAt: { $gt: at } },
    // An ended report needs no turn. Only its removal remains.
    { $set: { expiresAt: at, turn: null } },
  );
  if (result.modifiedCount > 0) {
    await startWaitingReports(accountIds);
  }
  return result.modifiedCount;
}

/** Starts reports of other types that were waiting for a turn of the ended reports. */
async function startWaitingReports(accountIds: string[]): Promise<void> {
  const waiting = await ReportModel.distinct('accountId', {
    accountId: { $in: accountIds },
    status: 'pending',
    turn: null,
    expiresAt: { $gt: now() },
  });
  for (const accountId of waiting) {
    await startNextReports(accountId);
  }
}

/** Runs `removeExpiredReports` every minute. */
export const removeExpiredReportsJob = defineScheduledJob('remove-expired-reports', 60_000);

const batchSize = 100;

/**
 * Removes reports and their files 7 days after the request, or once they were ended. A report in
 * progress is removed after its worker stops, because a later write would leave a file behind.
 */
export async function removeExpiredReports(): Promise<void> {
  const at = now();
  const expired = await ReportModel.find({
    expiresAt: { $lte: at },
    $nor: [{ status: 'processing', nextActionAt: { $gt: at } }],
  })
    .limit(batchSize)
    .lean<Report[]>();
  for (const report of expired) {
    // Files are removed first: after a crash in between, the next run still finds the report.
    await deleteEarlierFiles(report);
    await deleteReportFile(report);
    await ReportModel.deleteOne({ _id: report._id });
  }
}
