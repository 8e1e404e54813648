import { now } from '../shared/clock.js';
import { deleteEarlierFiles, deleteReportFile } from './report-file.js';
import { ReportModel, type Report } from './report.model.js';

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
