import Joi from 'joi';
import { defineJob } from '../../jobs/define-job.js';
import { schedules } from '../../jobs/sweep-job.js';

/** Tells clients of purchases that have been waiting for a while. */
export const sweepPendingNoticesJob = defineJob<object>({
  queue: schedules,
  name: 'sweep-pending-notices',
  version: 1,
  data: Joi.object({}),
  subject: () => 'all',
  clock: { everyMs: 3_000, data: {} },
});
