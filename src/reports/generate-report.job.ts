import Joi from 'joi';
import { defineJob, defineQueue } from '../jobs/define-job.js';

interface ReportData {
  reportId: string;
}

/** Generates a report; two at a time, because they are long, and wait for MongoDB most of the time. */
export const generateReportJob = defineJob<ReportData>({
  queue: defineQueue({ name: 'reports', does: 'Generates reports', concurrency: 2 }),
  name: 'reports',
  version: 1,
  data: Joi.object({ reportId: Joi.string() }),
  subject: ({ reportId }) => reportId,
});
