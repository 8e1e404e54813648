import Joi from 'joi';
import { addJobs } from './add-job.js';
import { defineJob, handle, type Handler, type Job, type Queue } from './define-job.js';
import { observeSweep } from './job-metrics.js';
import { sweepOutbox, type Outbox, type OutboxDocument } from './outbox.js';

/** Work by the clock. One process of the fleet takes it in each period, whichever is free. */
export const schedules: Queue = {
  name: 'schedules',
  does: 'Work by the clock: finds what is overdue, one job a kind and period',
  concurrency: 20,
};

/** After an outage, or on the first day, there may be much to do. */
const limitMs = 15 * 60_000;

/** Work that one process does in each period, with nothing to be told. @param ofItsOwn Another limit for one run. */
export function defineClocked(
  name: string,
  everyMs: number,
  ofItsOwn: { limitMs?: number } = {},
): Job<object> {
  return defineJob<object>({
    queue: schedules,
    name,
    version: 1,
    data: Joi.object({}),
    subject: () => 'all',
    clock: { everyMs, data: {} },
    limitMs,
    ...ofItsOwn,
  });
}

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
    limitMs,
  });
}

/** A sweep that has more to do than a batch asks the other processes of the fleet to take a part each. */
export function handleSweep<T extends OutboxDocument>(job: Job<SweepData>, outbox: Outbox<T>): Handler {
  const others = Array.from({ length: partsMax - 1 }, (_, index) => ({ part: index + 1 }));
  return handle(job, async ({ part }) => {
    const found = await sweepOutbox(outbox, {
      part,
      ...(part === 0 && { callForHelp: () => addJobs(job, others) }),
    });
    observeSweep(outbox.name, found);
  });
}
