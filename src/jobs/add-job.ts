/**
 * Adds jobs to their queues. Call these functions only after the commit of the document that needs
 * the job.
 */
import type { EventEmitter } from 'node:events';
import type { JobsOptions, Queue as BullQueue, QueueEvents } from 'bullmq';
import { nowMs } from '../shared/clock.js';
import { DependencyError } from '../shared/errors.js';
import { logRedisError } from '../redis/connection-errors.js';
import { batchCalls } from '../shared/concurrency.js';
import { serializeTrace } from '../shared/tracing.js';
import { buildPayload, type Job, type Payload, type Queue } from './define-job.js';
import { getQueueEvents, openQueue } from './queues.js';

export interface AddOptions {
  delayMs?: number;
  /**
   * BullMQ runs unprioritised jobs first, then 1, 2 and so on. Jobs of equal priority run in order
   * of arrival.
   */
  priority?: number;
  /** Request id of the HTTP call that caused the job, for logs. */
  requestId?: string | undefined;
}

/**
 * Adds a job, unless a job of the same subject is already waiting.
 * @throws DependencyError while Redis is unavailable.
 */
export async function addJob<Data extends object>(
  job: Job<Data>,
  data: NoInfer<Data>,
  { delayMs = 0, priority = 0, requestId }: AddOptions = {},
): Promise<void> {
  const { name, payload, options } = buildEntry(job, data, requestId);
  // BullMQ rejects negative delays, and keeps fractions of a millisecond.
  const opts = { ...options, delay: Math.max(0, Math.round(delayMs)), priority };
  await getAdder(job.queue)({ name, data: payload, opts });
}

type Entry = Parameters<BullQueue['addBulk']>[0][number];

const adders = new Map<string, (entry: Entry) => Promise<unknown>>();

/** Jobs that are added to a queue concurrently share a round trip. */
function getAdder(queue: Queue): (entry: Entry) => Promise<unknown> {
  const found =
    adders.get(queue.name) ??
    batchCalls({ itemsMax: 200, run: (entries: Entry[]) => addEntries(queue, entries) });
  adders.set(queue.name, found);
  return found;
}

async function addEntries(queue: Queue, entries: Entry[]): Promise<unknown[]> {
  const [first] = entries;
  try {
    return first && entries.length === 1
      ? [await openQueue(queue).add(first.name, first.data, first.opts)]
      : await openQueue(queue).addBulk(entries);
  } catch (error) {
    throw new DependencyError(error);
  }
}

/**
 * Adds many jobs.
 * @param requestIds Request ids of the HTTP calls that caused the jobs, by the index of the job.
 * @throws DependencyError while Redis is unavailable. Some of the jobs may have been added.
 */
export async function addJobs<Data extends object>(
  job: Job<Data>,
  all: NoInfer<Data>[],
  requestIds: (string | undefined)[] = [],
): Promise<void> {
  const entries = all.map((data, at) => buildEntry(job, data, requestIds[at]));
  await Promise.all(
    entries.map(({ name, payload, options }) => getAdder(job.queue)({ name, data: payload, opts: options })),
  );
}

/**
 * Adds a job that a sweep also finds in MongoDB. Never throws: if Redis is unavailable, the sweep
 * adds the job later.
 */
export async function tryToAddJob<Data extends object>(
  job: Job<Data>,
  data: NoInfer<Data>,
  options: AddOptions = {},
): Promise<void> {
  try {
    await addJob(job, data, options);
  } catch (error) {
    logNotAdded(job, data, error);
  }
}

/**
 * Adds a job that a sweep also finds in MongoDB, and waits for the job like `addAndWait`. Never
 * throws.
 * @returns False also if the job could not be added.
 */
export async function tryToAddAndWait<Data extends object>(
  job: Job<Data>,
  data: NoInfer<Data>,
  options: WaitOptions,
): Promise<boolean> {
  try {
    return await addAndWait(job, data, options);
  } catch (error) {
    logNotAdded(job, data, error);
    return false;
  }
}

function logNotAdded<Data extends object>(job: Job<Data>, data: Data, error: unknown): void {
  logRedisError('job not added; the sweep will add it', error, { job: job.name, subject: job.subject(data) });
}

type WaitOptions = { timeoutMs: number } & Pick<AddOptions, 'priority' | 'requestId'>;

/**
 * Adds a job and waits until a worker has finished it. The result is in MongoDB, not in the job.
 * @returns False if no worker finished the job within `timeoutMs`. The job continues.
 * @throws DependencyError (503/03) while Redis is unavailable.
 */
export async function addAndWait<Data extends object>(
  job: Job<Data>,
  data: NoInfer<Data>,
  { timeoutMs, priority = 0, requestId }: WaitOptions,
): Promise<boolean> {
  const { name, payload, options } = buildEntry(job, data, requestId);
  const added = await openQueue(job.queue)
    .add(name, payload, { ...options, priority })
    .catch((error: unknown) => {
      throw new DependencyError(error);
    });
  // BullMQ treats 0 as unlimited.
  if (timeoutMs === 0) {
    return false;
  }
  return isCompleted(job.queue, added.id ?? '', timeoutMs);
}

/**
 * Waits for a job. Returns false if the job failed or did not finish in time. BullMQ's
 * `waitUntilFinished` is not used: if Redis fails meanwhile, it throws outside its caller and ends
 * the process.
 */
function isCompleted(queue: Queue, id: string, timeoutMs: number): Promise<boolean> {
  const events: EventEmitter & Pick<QueueEvents, 'waitUntilReady'> = getQueueEvents(queue);
  const completed = `completed:${id}`;
  const failed = `failed:${id}`;
  return new Promise((resolve) => {
    const end = (isGood: boolean) => {
      clearTimeout(timer);
      events.off(completed, onCompleted).off(failed, onFailed);
      resolve(isGood);
    };
    const onCompleted = () => {
      end(true);
    };
    const onFailed = () => {
      end(false);
    };
    const timer = setTimeout(onFailed, timeoutMs);
    events.on(completed, onCompleted).on(failed, onFailed);
    // The job may have finished before the listeners were added.
    events
      .waitUntilReady()
      .then(() => openQueue(queue).getJobState(id))
      .then((state) => {
        if (state === 'completed' || state === 'failed') {
          end(state === 'completed');
        }
      })
      .catch(() => undefined);
  });
}

/**
 * Returns the subjects that have a waiting or active job. It also removes a deduplication key that
 * BullMQ kept for a finished job, so that the next job is accepted.
 * @throws Error while Redis is unavailable.
 */
export async function findQueuedSubjects<Data extends object>(
  job: Job<Data>,
  subjects: string[],
): Promise<Set<string>> {
  const queue = openQueue(job.queue);
  const isInQueue = async (subject: string): Promise<boolean> => {
    const mark = getDeduplicationId(job, subject);
    const id = await queue.getDeduplicationJobId(mark);
    if (id === null) {
      return false;
    }
    const state = await queue.getJobState(id);
    if (state === 'completed' || state === 'failed') {
      // Removes the key only if it still belongs to this job. The key of a deleted job does not
      // block the next job.
      await (await queue.getJob(id))?.removeDeduplicationKey();
    }
    return !['completed', 'failed', 'unknown'].includes(state);
  };
  // Commands that are sent concurrently on one connection share the wait.
  const found = await Promise.all(subjects.map(isInQueue));
  return new Set(subjects.filter((_, index) => found[index]));
}

function buildEntry<Data extends object>(
  job: Job<Data>,
  data: NoInfer<Data>,
  requestId?: string,
): { name: string; payload: Payload; options: JobsOptions } {
  const trace = serializeTrace(requestId);
  return {
    name: job.name,
    payload: buildPayload(job, data),
    options: {
      // Delays count from this time, on the shared clock. BullMQ's default is the host's time.
      timestamp: nowMs(),
      deduplication: {
        id: getDeduplicationId(job, job.subject(data)),
        ...(job.whileDelayed === 'replace' && { replace: true }),
        ...(job.whileActive === 'follow' && { keepLastIfActive: true }),
      },
      // Stored outside the payload, because the job defines the schema of its payload (decision
      // 055).
      ...(trace !== undefined && { telemetry: { metadata: trace } }),
    },
  };
}

export function getDeduplicationId(job: { name: string }, subject: string): string {
  return `${job.name}:${subject}`;
}
