/** BullMQ queues of this process. Jobs are only the fast path; the sweeps add lost jobs again. */
import { Queue as BullQueue, QueueEvents } from 'bullmq';
import { env } from '../../config/env.js';
import { DependencyError } from '../shared/errors.js';
import { redis } from '../redis/connection.js';
import { logRedisError } from '../redis/connection-errors.js';
import { withTimeout } from '../shared/concurrency.js';
import type { Queue } from './define-job.js';
import { createFleetBackend } from './fleet-worker.js';

const closeMs = 500;

const queues = new Map<string, BullQueue>();
const queueEvents = new Map<string, QueueEvents>();

/**
 * Returns the key prefix of a queue. BullMQ's scripts use several keys of a queue at once, so a
 * Cluster needs a common hash tag. It is one per queue to spread the load, or the one in
 * QUEUE_PREFIX. Without a Cluster the names never change, because jobs wait under them across
 * releases.
 */
export function getQueuePrefix({ name }: Queue): string {
  return env.REDIS_CLUSTER && !env.QUEUE_PREFIX.includes('{')
    ? `{${env.QUEUE_PREFIX}:${name}}`
    : env.QUEUE_PREFIX;
}

/**
 * Returns the BullMQ queue for inspection. To add jobs, use add-job.ts.
 * @throws DependencyError if Redis is unavailable and this process has not used the queue before.
 */
export function openQueue(queue: Queue): BullQueue {
  const { name } = queue;
  const found = queues.get(name) ?? createQueue(queue);
  queues.set(name, found);
  return found;
}

function createQueue(queue: Queue): BullQueue {
  const { name } = queue;
  const connection = redis();
  if (connection.status !== 'ready') {
    // Without this check, BullMQ and the request would wait without a limit.
    throw new DependencyError(new Error(`Redis is unavailable (${connection.status})`));
  }
  const made = new BullQueue(
    name,
    {
      connection,
      prefix: getQueuePrefix(queue),
      defaultJobOptions: { removeOnComplete: 1_000, removeOnFail: 1_000 },
    },
    createFleetBackend,
  );
  made.on('error', (error) => {
    logRedisError('redis error of a queue', error, { queue: name });
  });
  // BullMQ never retries a failed initialization. Drop the queue, so that the next job opens a new
  // one.
  made.waitUntilReady().catch(() => {
    if (queues.get(name) === made) {
      queues.delete(name);
    }
  });
  return made;
}

/** Returns the events of a queue. All waiting requests of the process share the connection. */
export function getQueueEvents(queue: Queue): QueueEvents {
  const { name } = queue;
  const found = queueEvents.get(name) ?? createQueueEvents(queue);
  queueEvents.set(name, found);
  return found;
}

function createQueueEvents(queue: Queue): QueueEvents {
  const { name } = queue;
  const made = new QueueEvents(name, { connection: redis(), prefix: getQueuePrefix(queue) });
  made.on('error', (error) => {
    logRedisError('redis error of the events of a queue', error, { queue: name });
  });
  return made;
}

export async function closeQueues(): Promise<void> {
  const closing = [...queues.values(), ...queueEvents.values()].map((each) => each.close());
  // BullMQ's close() waits for the connection to end, even while it is reconnecting. The wait
  // therefore has a timeout.
  await Promise.all(
    closing.map((each) => withTimeout(closeMs, each, () => new Error('not closed')).catch(() => undefined)),
  );
  queues.clear();
  queueEvents.clear();
}
