import type { JobType } from 'bullmq';
import { heardAgainAtMs } from '../redis/presence.js';
import type { Queue } from './define-job.js';
import { openQueue } from './queues.js';
import { isUnreadable, readJob } from './read-job.js';

/** What a queue holds, by BullMQ's own states, and whether somebody takes it. */
export interface SeenQueue {
  counts: Record<string, number>;
  workers: number;
  isPaused: boolean;
  /** None of its jobs is taken just now: its rate is used up, or one that was taken too early said so. */
  isLimited: boolean;
  /** When the job at the head of each of its lists was due, the earliest; null: none waits. */
  oldestDueMs: number | null;
  /** When the first of the delayed was to be let go; null: none is delayed. A worker lets it go: without one it stays delayed. */
  delayedUntilMs: number | null;
  /** The job that has been under way for longest; of the time before a stall of Redis nothing is counted: nobody could end it. */
  active: { name: string; sinceMs: number } | null;
  /** The id of a job that was written by hand and cannot be read: at the head of a list, or the last that failed. Null: none was seen. */
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
      // The oldest of each list.
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
        : { name: longest.name, sinceMs: Math.max(longest.processedOn, await heardAgainAtMs()) },
    unreadable: all.find(isUnreadable)?.id ?? null,
  };
}
