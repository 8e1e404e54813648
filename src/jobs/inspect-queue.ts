import type { JobType } from 'bullmq';
import { findLastRecoveryMs } from '../redis/presence.js';
import type { Queue } from './define-job.js';
import { openQueue } from './queues.js';
import { isUnreadable, readJob } from './read-job.js';

/** The state of a queue: job counts by BullMQ state, and whether workers take its jobs. */
export interface SeenQueue {
  counts: Record<string, number>;
  workers: number;
  isPaused: boolean;
  /** True if no job can be taken now: the rate is used up, or a job was requeued with a delay. */
  isLimited: boolean;
  /** Earliest due time of the jobs at the head of its lists, in milliseconds. Null: none waits. */
  oldestDueMs: number | null;
  /**
   * When the first delayed job is due, in milliseconds. Null: none. A worker promotes it; without a
   * worker it stays delayed.
   */
  delayedUntilMs: number | null;
  /**
   * The longest active job. Time before the last stall of Redis is not counted, because no job
   * could end then.
   */
  active: { name: string; sinceMs: number } | null;
  /**
   * Id of a job that was written by hand and cannot be read, at the head of a list or last failed.
   * Null: none found.
   */
  unreadable: string | null;
}

export async function inspectQueue(queue: Queue): Promise<SeenQueue> {
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
      // The oldest of each list; of `failed` the newest.
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
