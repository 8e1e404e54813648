import type { Queue } from './define-job.js';
import { openQueue } from './queues.js';

/** What a queue holds, by BullMQ's own states, and whether somebody takes it. */
export interface SeenQueue {
  counts: Record<string, number>;
  workers: number;
  isPaused: boolean;
}

export async function lookAtQueue(queue: Queue): Promise<SeenQueue> {
  const opened = openQueue(queue);
  const [counts, workers, isPaused] = await Promise.all([
    opened.getJobCounts('wait', 'prioritized', 'active', 'delayed', 'failed'),
    opened.getWorkersCount(),
    opened.isPaused(),
  ]);
  return { counts, workers, isPaused };
}
