import Joi from 'joi';
import { defineJob } from '../jobs/define-job.js';
import { schedules } from '../jobs/sweep-job.js';

/** Asks providers for our balance there and for their price lists, each when it is time. */
export const refreshProvidersJob = defineJob<object>({
  queue: schedules,
  name: 'refresh-providers',
  version: 1,
  data: Joi.object({}),
  subject: () => 'all',
  clock: { everyMs: 20_000, data: {} },
});
