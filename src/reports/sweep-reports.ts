import { now, nowMs } from '../shared/clock.js';
import { queue } from '../jobs/queues.js';
import { deleteEarlierFiles, deleteReportFile } from './report-file.js';
import { ReportModel, type Report } from './report.model.js';
import { reportSweepAfterMs } from './request-report.js';

const sweepMax = 100;

/** Adds the job again of reports that nobody finished, and removes those whose 7 days are over. */
export async function sweepReports(): Promise<void> {
  await Promise.all([restartLost(), removeExpired()]);
}

async function restartLost(): Promise<void> {
  const lost = await ReportModel.find({
    status: { $in: ['pending', 'processing'] },
    nextActionAt: { $lte: now() },
  })
    .limit(sweepMax)
    .lean<Report[]>();
  if (lost.length === 0) {
    return;
  }
  await ReportModel.updateMany(
    { _id: { $in: lost.map((each) => each._id) } },
    { $set: { nextActionAt: new Date(nowMs() + reportSweepAfterMs) }, $inc: { epoch: 1 } },
  );
  await queue('reports').addBulk(
    lost.map((each) => ({
      name: 'reports',
      data: { v: 1 as const, reportId: each._id },
      // Queues know jobs that are over for a while: a job that is added again needs an id of its own.
      opts: { jobId: `report-${each._id}-${each.epoch + 1}` },
    })),
  );
}

async function removeExpired(): Promise<void> {
  const expired = await ReportModel.find({ expiresAt: { $lte: now() } })
    .limit(sweepMax)
    .lean<Report[]>();
  for (const report of expired) {
    // The file first: a report without its file would be a promise that cannot be kept.
    await deleteEarlierFiles(report);
    await deleteReportFile(report);
    await ReportModel.deleteOne({ _id: report._id });
  }
}
