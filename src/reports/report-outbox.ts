import { outboxJob, type Outbox } from '../jobs/outbox.js';
import { defineSweep } from '../jobs/sweep-job.js';
import { generateReportJob } from './generate-report.job.js';
import { reports, type Report } from './report.model.js';
import { openReportFilter, sweepAfterMs } from './report-turns.js';

/** Reports that are not made yet. */
export const reportOutbox: Outbox<Report> = {
  name: 'reports',
  collection: reports,
  open: openReportFilter,
  fields: ['requestId', 'turn'],
  jobs: [
    outboxJob({
      job: generateReportJob,
      dataOf: ({ _id, accountId }) => ({ reportId: _id, accountId }),
      requestIdOf: ({ requestId }) => requestId,
      isNeededBy: () => true,
    }),
  ],
  graceMs: (_epoch, { turn }) => (turn === null ? sweepAfterMs.waiting : sweepAfterMs.called),
};

export const sweepReportsJob = defineSweep('sweep-reports', 30_000);
