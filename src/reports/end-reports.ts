import { now } from '../shared/clock.js';
import { ReportModel, type Report } from './report.model.js';
import { startNextReports } from './report-queue.js';
import { defineClocked } from '../jobs/sweep-job.js';
import { deleteEarlierFiles, deleteReportFile } from './report-file.js';

/**
 * Ends the reports of purchases and sales of these accounts, made or still being made: they and their links are not found
 * any more, and the clock removes their files within a minute, of one that is being made after its worker has noticed. A new one shows what is kept now. @returns how many.
 */
export async function endReports(accountIds: string[]): Promise<number> {
  if (accountIds.length === 0) {
    return 0;
  }
  const at = now();
  const result = await ReportModel.updateMany(
    { accountId: { $in: accountIds }, type: { $ne: 'deposit' }, expiresAt: { $gt: at } },
    // Its turn is free: what is left to do for it is to be removed.
    { $set: { expiresAt: at, turn: null } },
  );
  if (result.modifiedCount > 0) {
    await startWaitingReports(accountIds);
  }
  return result.modifiedCount;
}

/** Those of other types, which waited for the turns of those that have ended. */
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

/** Removes reports whose time is over. */
export const removeExpiredReportsJob = defineClocked('remove-expired-reports', 60_000);

const batchSize = 100;

/**
 * Removes reports whose 7 days are over, or that were ended, with their files. One that a worker is making waits for it:
 * what it writes after the removal would stay.
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
    // The file first: a report without its file would be a promise that cannot be kept.
    await deleteEarlierFiles(report);
    await deleteReportFile(report);
    await ReportModel.deleteOne({ _id: report._id });
  }
}
