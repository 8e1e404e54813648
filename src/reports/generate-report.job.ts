import Joi from 'joi';
import { defineJob, defineQueue } from '../jobs/define-job.js';

interface ReportData {
  reportId: string;
  /** Whose report it is. */
  accountId: string;
}

/** Generates a report; a few at a time, because they are long, and wait for MongoDB most of the time. */
export const generateReportJob = defineJob<ReportData>({
  queue: defineQueue({
    name: 'reports',
    does: 'Generates reports',
    // One more than an account has turns (report-turns.ts): the next one need not wait for both.
    concurrency: 3,
  }),
  name: 'reports',
  version: 2,
  data: Joi.object({ reportId: Joi.string(), accountId: Joi.string() }),
  subject: ({ reportId }) => reportId,
  // A million rows take a minute or two on a small machine.
  limitMs: 30 * 60_000,
});
