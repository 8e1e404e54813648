/** Puts jobs into their queues. Always after the commit of what they are about. */
import type { JobsOptions } from 'bullmq';
import { DependencyError } from '../shared/errors.js';
import { logger } from '../shared/logger.js';
import { payloadOf, type Job, type Payload } from './define-job.js';
import { eventsOf, openQueue } from './queues.js';

const firstRetryMs = 2_000;

/**
 * Adds a job; where one of the same subject waits, that one is enough.
 * @throws DependencyError while Redis is away.
 */
export async function addJob<Data extends object>(
  job: Job<Data>,
  data: Data,
  { delayMs = 0 }: { delayMs?: number } = {},
): Promise<void> {
  const { name, payload, options } = entryOf(job, data);
  try {
    // BullMQ refuses a negative delay.
    await openQueue(job.queue).add(name, payload, { ...options, delay: Math.max(0, delayMs) });
  } catch (error) {
    throw new DependencyError(error);
  }
}

/** Adds many jobs in one call. @throws DependencyError while Redis is away: some of them may have been added. */
export async function addJobs<Data extends object>(job: Job<Data>, all: Data[]): Promise<void> {
  const [first] = all;
  if (first === undefined) {
    return;
  }
  if (all.length === 1) {
    // One is what a sale's webhook is most of the time, and costs Redis less than a bulk of one.
    await addJob(job, first);
    return;
  }
  const entries = all.map((data) => entryOf(job, data));
  try {
    await openQueue(job.queue).addBulk(
      entries.map(({ name, payload, options }) => ({ name, data: payload, opts: options })),
    );
  } catch (error) {
    throw new DependencyError(error);
  }
}

/**
 * As `addJob`, for work that a sweep finds in MongoDB as well: without Redis nothing is lost, so this never fails.
 */
export async function tryToAddJob<Data extends object>(
  job: Job<Data>,
  data: Data,
  options: { delayMs?: number } = {},
): Promise<void> {
  try {
    await addJob(job, data, options);
  } catch (error) {
    logger.warn('job not added, the sweep will', { job: job.name, subject: job.subject(data), error });
  }
}

/**
 * Adds a job and waits until a worker has finished it. What the job found is in MongoDB, not in its result.
 * @returns false if no worker was done within `timeoutMs`: the job goes on.
 * @throws DependencyError (503/03) while Redis is away.
 */
export async function addAndWait<Data extends object>(
  job: Job<Data>,
  data: Data,
  { timeoutMs }: { timeoutMs: number },
): Promise<boolean> {
  const { name, payload, options } = entryOf(job, data);
  const added = await openQueue(job.queue)
    .add(name, payload, options)
    .catch((error: unknown) => {
      throw new DependencyError(error);
    });
  // For BullMQ 0 means for ever.
  if (timeoutMs === 0) {
    return false;
  }
  return added.waitUntilFinished(eventsOf(job.queue), timeoutMs).then(
    () => true,
    () => false,
  );
}

/**
 * Which of these subjects have a job that waits or is being worked on. Where BullMQ was left with a mark of a job that
 * is over, the mark goes, so that the next job is taken.
 * @throws Error while Redis is away.
 */
export async function subjectsInQueue<Data extends object>(
  job: Job<Data>,
  subjects: string[],
): Promise<Set<string>> {
  const queue = openQueue(job.queue);
  const isInQueue = async (subject: string): Promise<boolean> => {
    const mark = deduplicationId(job, subject);
    const id = await queue.getDeduplicationJobId(mark);
    if (id === null) {
      return false;
    }
    const state = await queue.getJobState(id);
    if (state === 'completed' || state === 'failed') {
      // Only if the mark is still this job's. That of a job that is gone is not in the way of the next one.
      await (await queue.getJob(id))?.removeDeduplicationKey();
    }
    return !['completed', 'failed', 'unknown'].includes(state);
  };
  // Asked together over one connection, so the waits are shared.
  const found = await Promise.all(subjects.map(isInQueue));
  return new Set(subjects.filter((_, index) => found[index]));
}

function entryOf<Data extends object>(
  job: Job<Data>,
  data: Data,
): { name: string; payload: Payload; options: JobsOptions } {
  return {
    name: job.name,
    payload: payloadOf(job, data),
    options: {
      ...(job.triesMax !== undefined && {
        attempts: job.triesMax,
        backoff: { type: 'exponential', delay: firstRetryMs },
      }),
      deduplication: {
        id: deduplicationId(job, job.subject(data)),
        ...(job.whileDelayed === 'replace' && { replace: true }),
        ...(job.whileActive === 'follow' && { keepLastIfActive: true }),
      },
    },
  };
}

function deduplicationId(job: { name: string }, subject: string): string {
  return `${job.name}:${subject}`;
}
