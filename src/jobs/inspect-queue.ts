import type { JobType } from 'bullmq';
import { findLastRecoveryMs } from '../redis/presence.js';
import type { Queue } from './define-job.js';
import { openQueue } from './queues.js';
import { isUnreadable, readJob } from './read-job.js';

/** The state of a queue: job counts by BullMQ state, and whether workers take its jobs. */
export interface QueueState {
  counts: Record<string, number>;
  workers: number;
  isPaused: boolean;
  /**
   * True if no job can be taken now, because the rate is used up or a job was requeued with a
   * delay.
   */
  isLimited: boolean;
  /**
   * Earliest due time among the jobs at the head of the queue's lists, in milliseconds. Null if no
   * job waits.
   */
  oldestDueMs: number | null;
  /**
   * When the first delayed job is due, in milliseconds. Null if no job is delayed. A worker
   * promotes the job; without a worker it stays delayed.
   */
  delayedUntilMs: number | null;
  /**
   * The longest running active job. Null if none is active. Time before the last stall of Redis is
   * not counted, because no job could finish during the stall.
   */
  active: { name: string; sinceMs: number } | null;
  /**
   * Id of a job that cannot be read because it was written by hand. Only the heads of the lists and
   * the last failed job are checked. Null if none was found.
   */
  unreadable: string | null;
}

export async function inspectQueue(queue: Queue): Promise<QueueState> {
  const opened = openQueue(queue);
  const ofList = async (list: JobType, isOldestFirst: boolean) => {
    const ids = await opened.getRanges([list], 0, 0, isOldestFirst);
    return (await Promise.all(ids.map((id) => readJob(queue, id)))).filter((job) => job !== undefined);
  };
  const [counts, workers, isPaused, limitedForMs, waiting, prioritized, active, delayed, failed] =
    await Promise.all([
      opened.getJobCounts('wait', 'prioritized', 'active', 'delayed', 'failed', 'completed'),
      opened.getWorkersCount(),
      opened.isPaused(),
      opened.getRateLimitTtl(),
      // Read the oldest job of each list, but the newest one of `failed`.
      ofList('wait', true),
      ofList('prioritized', true),
      ofList('active', true),
      ofList('delayed', true),
      ofList('failed', false),
    ]);
  const dueMs = [...waiting, ...prioritized].map(({ timestamp, opts }) => timestamp + (opts.delay ?? 0));
  const [[longest], [next]] = [active, delayed];
  const all = [...waiting, ...prioritized, ...active, ...delayed, ...failed];
  return {
    counts,
    workers,
    isPaused,
    isLimited: limitedForMs > 0,
    oldestDueMs: dueMs.length > 0 ? Math.min(...dueMs) : null,
    delayedUntilMs: next === undefined ? null : next.timestamp + next.delay,
    active:
      longest?.processedOn === undefined
        ? null
        : { name: longest.name, sinceMs: Math.max(longest.processedOn, await findLastRecoveryMs()) },
    unreadable: all.find(isUnreadable)?.id ?? null,
  };
}
