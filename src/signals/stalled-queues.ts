import type { Queue } from '../jobs/define-job.js';
import { openQueue } from '../jobs/queues.js';
import type { RunningWorkers } from '../jobs/start-workers.js';
import { redis } from '../redis/connection.js';
import { repeat } from '../shared/repeat.js';

const lookEveryMs = 5_000;
/** If jobs wait this long and a worker takes none, the worker is stuck. */
export const idleMaxMs = 60_000;

export interface StalledQueues {
  /** Queues whose jobs have waited for `maxMs` while this process took none. */
  idle(): Queue[];
  stop(): Promise<void>;
}

/**
 * Watches whether this process takes waiting jobs. Without this check, a process looks healthy
 * although a handler never ends or BullMQ has lost its connection. Queues of providers are
 * excluded, because the jobs of a provider may wait on purpose.
 */
export function watchStalledQueues(
  taken: RunningWorkers['taken'],
  { everyMs, maxMs }: { everyMs: number; maxMs: number } = { everyMs: lookEveryMs, maxMs: idleMaxMs },
): StalledQueues {
  const waiting = new Map<Queue, { sinceMs: number; takenThen: number }>();
  const look = async (queue: Queue, count: number): Promise<void> => {
    const opened = openQueue(queue);
    const [waits, isPaused] = await Promise.all([
      opened.getJobCountByTypes('wait', 'prioritized'),
      opened.isPaused(),
    ]);
    const found = waiting.get(queue);
    if (waits === 0 || isPaused) {
      waiting.delete(queue);
    } else if (found?.takenThen !== count) {
      waiting.set(queue, { sinceMs: performance.now(), takenThen: count });
    }
  };
  const watching = repeat({
    name: 'idle queues',
    everyMs,
    async run() {
      // While Redis is disconnected this process is not ready anyway.
      if (redis().status === 'ready') {
        await Promise.all([...taken].map(([queue, count]) => look(queue, count)));
      }
    },
  });
  return {
    idle: () =>
      [...waiting]
        .filter(([queue, { sinceMs, takenThen }]) => {
          return performance.now() - sinceMs >= maxMs && taken.get(queue) === takenThen;
        })
        .map(([queue]) => queue),
    stop: () => watching.stop(),
  };
}
