import Joi from 'joi';
import { addJobs } from './add-job.js';
import { defineJob, handle, type Handler, type Job, type Queue } from './define-job.js';
import { observeSweep } from './job-metrics.js';
import { sweepOutbox, type Outbox, type OutboxDocument } from './outbox.js';

/** Queue of scheduled work. In each period, any free process runs the job. */
export const schedulesQueue: Queue = {
  name: 'schedules',
  does: 'Scheduled work: finds overdue work, one job per kind and period',
  concurrency: 20,
};

/**
 * Time limit of one run in milliseconds. It is long because much work may wait after an outage, or
 * on the first day.
 */
const limitMs = 15 * 60_000;

/**
 * Defines a job without data that one process runs in each period.
 * @param ofItsOwn Settings that override the defaults, such as the time limit of one run.
 */
export function defineScheduledJob(
  name: string,
  everyMs: number,
  ofItsOwn: { limitMs?: number } = {},
): Job<object> {
  return defineJob<object>({
    queue: schedulesQueue,
    name,
    version: 1,
    data: Joi.object({}),
    subject: () => 'all',
    clock: { everyMs, data: {} },
    limitMs,
    ...ofItsOwn,
  });
}

/** Maximum number of processes that share the sweep of an outbox when the sweep falls behind. */
const partsMax = 4;

interface SweepData {
  part: number;
}

/**
 * Defines the job that sweeps an outbox in each period. It sweeps the first part, and adds jobs for
 * the other parts if needed.
 */
export function defineSweep(name: string, everyMs: number): Job<SweepData> {
  return defineJob<SweepData>({
    queue: schedulesQueue,
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

/** Handles a sweep. If there is more than one batch, other processes sweep the other parts. */
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
