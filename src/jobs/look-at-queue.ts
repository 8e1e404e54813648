import { heardAgainAtMs } from '../redis/presence.js';
import type { Queue } from './define-job.js';
import { openQueue } from './queues.js';

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
}

export async function lookAtQueue(queue: Queue): Promise<SeenQueue> {
  const opened = openQueue(queue);
  const [counts, workers, isPaused, limitedForMs, waiting, prioritized, [active], [delayed]] =
    await Promise.all([
      opened.getJobCounts('wait', 'prioritized', 'active', 'delayed', 'failed', 'completed'),
      opened.getWorkersCount(),
      opened.isPaused(),
      opened.getRateLimitTtl(),
      // The oldest of each list.
      opened.getJobs(['wait'], 0, 0, true),
      opened.getJobs(['prioritized'], 0, 0, true),
      opened.getJobs(['active'], 0, 0, true),
      opened.getJobs(['delayed'], 0, 0, true),
    ]);
  const dueMs = [...waiting, ...prioritized].map(({ timestamp, opts }) => timestamp + (opts.delay ?? 0));
  return {
    ...{ counts, workers, isPaused, isLimited: limitedForMs > 0 },
    oldestDueMs: dueMs.length > 0 ? Math.min(...dueMs) : null,
    delayedUntilMs: delayed === undefined ? null : delayed.timestamp + delayed.delay,
    active:
      active?.processedOn === undefined
        ? null
        : { name: active.name, sinceMs: Math.max(active.processedOn, await heardAgainAtMs()) },
  };
}
