import { outboxJob, type Outbox } from '../jobs/outbox.js';
import { defineSweep } from '../jobs/sweep-job.js';
import { generateReportJob } from './generate-report.job.js';
import { reports, type Report } from './report.model.js';
import { openReports } from './report-turns.js';

/** A report that no worker has begun after this has lost its job. */
export const reportSweepAfterMs = 600_000;

/** Reports that are not made yet. */
export const reportOutbox: Outbox<Report> = {
  name: 'reports',
  collection: reports,
  open: openReports,
  fields: ['requestId'],
  jobs: [
    outboxJob({
      job: generateReportJob,
      dataOf: ({ _id, accountId }) => ({ reportId: _id, accountId }),
      requestIdOf: ({ requestId }) => requestId,
      isNeededBy: () => true,
    }),
  ],
  graceMs: () => reportSweepAfterMs,
};

export const sweepReportsJob = defineSweep('sweep-reports', 30_000);
