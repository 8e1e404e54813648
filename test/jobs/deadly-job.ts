import Joi from 'joi';
import { defineJob, defineQueue } from '../../src/jobs/define-job.js';

/** A job that kills its worker process for some subjects (deadly-process.ts). */
export const deadlyJob = defineJob<{ thingId: string }>({
  queue: defineQueue({ name: 'deadly', does: 'Tests workers that die', concurrency: 5 }),
  name: 'die',
  version: 1,
  data: Joi.object({ thingId: Joi.string() }),
  subject: ({ thingId }) => thingId,
});
