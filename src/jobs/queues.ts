/** The queues of this process, by BullMQ. Jobs only save time; whoever loses one is healed by the sweeps. */
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
 * What the keys of a queue begin with. BullMQ's scripts touch several keys of a queue at once, so in a Cluster they share
 * a hash tag: one for each queue, which spreads them over the nodes, or the one that QUEUE_PREFIX has. Anywhere else
 * the names stay what they were, because jobs wait under them over a release.
 */
export function getQueuePrefix({ name }: Queue): string {
  return env.REDIS_CLUSTER && !env.QUEUE_PREFIX.includes('{')
    ? `{${env.QUEUE_PREFIX}:${name}}`
    : env.QUEUE_PREFIX;
}

/**
 * The queue itself, for those who look at it. Jobs are added by add-job.ts.
 * @throws DependencyError while Redis is away, if this process has not used the queue before.
 */
export function openQueue(queue: Queue): BullQueue {
  const { name } = queue;
  const found = queues.get(name) ?? newQueue(queue);
  queues.set(name, found);
  return found;
}

function newQueue(queue: Queue): BullQueue {
  const { name } = queue;
  const connection = redis();
  if (connection.status !== 'ready') {
    // BullMQ would wait for it, without an end, and a request with it.
    throw new DependencyError(new Error(`Redis is away (${connection.status})`));
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
    logRedisError('redis refuses a queue', error, { queue: name });
  });
  // BullMQ keeps a beginning that failed for ever. One that fell into an outage is made anew for the next job.
  made.waitUntilReady().catch(() => {
    if (queues.get(name) === made) {
      queues.delete(name);
    }
  });
  return made;
}

/** One connection a queue and process tells every request that waits. */
export function getQueueEvents(queue: Queue): QueueEvents {
  const { name } = queue;
  const found = queueEvents.get(name) ?? newQueueEvents(queue);
  queueEvents.set(name, found);
  return found;
}

function newQueueEvents(queue: Queue): QueueEvents {
  const { name } = queue;
  const made = new QueueEvents(name, { connection: redis(), prefix: getQueuePrefix(queue) });
  made.on('error', (error) => {
    logRedisError('redis refuses the events of a queue', error, { queue: name });
  });
  return made;
}

export async function closeQueues(): Promise<void> {
  const closing = [...queues.values(), ...queueEvents.values()].map((each) => each.close());
  // BullMQ waits for the end of a connection that has none: one that was about to be made again.
  await Promise.all(
    closing.map((each) => withTimeout(closeMs, each, () => new Error('not closed')).catch(() => undefined)),
  );
  queues.clear();
  queueEvents.clear();
}
