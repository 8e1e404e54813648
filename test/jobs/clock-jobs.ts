import Joi from 'joi';
import { defineJob, defineQueue } from '../../src/jobs/define-job.js';

interface ThingData {
  thingId: string;
}

const buildJobOptions = (name: string) => ({
  queue: defineQueue({ name: 'clocks', does: 'Tests hosts with wrong clocks', concurrency: 5 }),
  name,
  version: 1,
  data: Joi.object<ThingData>({ thingId: Joi.string() }),
  subject: ({ thingId }: ThingData) => thingId,
});

export const noteJob = defineJob<ThingData>(buildJobOptions('note'));
export const brokenJob = defineJob<ThingData>(buildJobOptions('break'));

export const tickMs = 500;
export const tickJob = defineJob<ThingData>({
  ...buildJobOptions('tick'),
  clock: { everyMs: tickMs, data: { thingId: 'tick' } },
});
