import { outboxJob, type Outbox } from '../jobs/outbox.js';
import { defineSweep } from '../jobs/sweep-job.js';
import { generateReportJob } from './generate-report.job.js';
import { reports, type Report } from './report.model.js';

/** A report that no worker has begun after this has lost its job. */
export const reportSweepAfterMs = 600_000;

/** Reports that are not made yet. */
export const reportOutbox: Outbox<Report> = {
  name: 'reports',
  collection: reports,
  open: { status: { $in: ['pending', 'processing'] } },
  fields: [],
  jobs: [
    outboxJob({
      job: generateReportJob,
      dataOf: ({ _id }) => ({ reportId: _id }),
      isNeededBy: () => true,
    }),
  ],
  graceMs: () => reportSweepAfterMs,
};

export const sweepReportsJob = defineSweep('sweep-reports', 30_000);
