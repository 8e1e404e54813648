/** Puts jobs into their queues. Always after the commit of what they are about. */
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
  /** Jobs without one go first, then those with 1, 2, …; equal ones in the order in which they come. */
  priority?: number;
  /** Of the call that it comes from, where that is known: for log lines. */
  requestId?: string | undefined;
}

/**
 * Adds a job; where one of the same subject waits, that one is enough.
 * @throws DependencyError while Redis is away.
 */
export async function addJob<Data extends object>(
  job: Job<Data>,
  data: NoInfer<Data>,
  { delayMs = 0, priority = 0, requestId }: AddOptions = {},
): Promise<void> {
  const { name, payload, options } = buildEntry(job, data, requestId);
  // BullMQ refuses a negative delay, and keeps fractions of a millisecond.
  const opts = { ...options, delay: Math.max(0, Math.round(delayMs)), priority };
  await getAdder(job.queue)({ name, data: payload, opts });
}

type Entry = Parameters<BullQueue['addBulk']>[0][number];

const adders = new Map<string, (entry: Entry) => Promise<unknown>>();

/** Jobs of a queue that are added at the same time share a round trip. */
function getAdder(queue: Queue): (entry: Entry) => Promise<unknown> {
  const found =
    adders.get(queue.name) ?? batchCalls({ itemsMax: 200, run: (entries: Entry[]) => add(queue, entries) });
  adders.set(queue.name, found);
  return found;
}

async function add(queue: Queue, entries: Entry[]): Promise<unknown[]> {
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
 * @param requestIds Of the calls that they come from, each at the place of its job.
 * @throws DependencyError while Redis is away: some of them may have been added.
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
 * As `addJob`, for work that a sweep finds in MongoDB as well: without Redis nothing is lost, so this never fails.
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
 * As `addAndWait`, for work that a sweep finds in MongoDB as well.
 * @returns false too where it could not be added.
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
  logRedisError('a job is not added, the sweep will', error, { job: job.name, subject: job.subject(data) });
}

type WaitOptions = { timeoutMs: number } & Pick<AddOptions, 'priority' | 'requestId'>;

/**
 * Adds a job and waits until a worker has finished it. What the job found is in MongoDB, not in its result.
 * @returns false if no worker was done within `timeoutMs`: the job goes on.
 * @throws DependencyError (503/03) while Redis is away.
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
  // For BullMQ 0 means for ever.
  if (timeoutMs === 0) {
    return false;
  }
  return isCompleted(job.queue, added.id ?? '', timeoutMs);
}

/**
 * False if the job failed or is not over in time. BullMQ's own way to wait throws past its caller, and with that ends the
 * process, when Redis goes away just then.
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
    // It may have been over before anybody listened.
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
      // From here a delay counts. BullMQ's own is that of the host.
      timestamp: nowMs(),
      deduplication: {
        id: deduplicationId(job, job.subject(data)),
        ...(job.whileDelayed === 'replace' && { replace: true }),
        ...(job.whileActive === 'follow' && { keepLastIfActive: true }),
      },
      // Beside the payload, whose form is the job's own (decision 055).
      ...(trace !== undefined && { telemetry: { metadata: trace } }),
    },
  };
}

/** The mark by which BullMQ keeps one job of a subject. */
export function deduplicationId(job: { name: string }, subject: string): string {
  return `${job.name}:${subject}`;
}
