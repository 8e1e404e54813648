import Joi from 'joi';
import { defineJob } from '../jobs/define-job.js';
import { schedules } from '../jobs/sweep-job.js';

/** Removes reports whose time is over. */
export const removeExpiredReportsJob = defineJob<object>({
  queue: schedules,
  name: 'remove-expired-reports',
  version: 1,
  data: Joi.object({}),
  subject: () => 'all',
  clock: { everyMs: 60_000, data: {} },
});
