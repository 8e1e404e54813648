import Joi from 'joi';
import { addJobs } from './add-job.js';
import { defineJob, handle, type Handler, type Job, type Queue } from './define-job.js';
import { sweepOutbox, type Outbox, type OutboxDocument } from './outbox.js';

/** Work by the clock. One process of the fleet takes it in each period, whichever is free. */
export const schedules: Queue = {
  name: 'schedules',
  does: 'Work by the clock: finds what is overdue, one job a kind and period',
  concurrency: 20,
};

/** How many processes at most share the sweep of one outbox when one alone is behind. */
const partsMax = 4;

interface SweepData {
  part: number;
}

/** The job that sweeps an outbox in each period: the first part, which calls the others if need be. */
export function defineSweep(name: string, everyMs: number): Job<SweepData> {
  return defineJob<SweepData>({
    queue: schedules,
    name,
    version: 1,
    data: Joi.object({
      part: Joi.number()
        .integer()
        .min(0)
        .max(partsMax - 1),
    }),
    subject: ({ part }) => String(part),
    clock: { everyMs, data: { part: 0 } },
  });
}

/** A sweep that has more to do than a batch asks the other processes of the fleet to take a part each. */
export function handleSweep<T extends OutboxDocument>(job: Job<SweepData>, outbox: Outbox<T>): Handler {
  const others = Array.from({ length: partsMax - 1 }, (_, index) => ({ part: index + 1 }));
  return handle(job, ({ part }) =>
    sweepOutbox(outbox, { part, ...(part === 0 && { callForHelp: () => addJobs(job, others) }) }),
  );
}
