/** The queues of this process, by BullMQ. Jobs only save time; whoever loses one is healed by the sweeps. */
import { Queue as BullQueue, QueueEvents } from 'bullmq';
import { env } from '../../config/env.js';
import { DependencyError } from '../shared/errors.js';
import { newWorkerConnection, redis } from '../redis/connection.js';
import type { Queue } from './define-job.js';

const queues = new Map<string, BullQueue>();
const queueEvents = new Map<string, { events: QueueEvents; close: () => Promise<void> }>();

/**
 * The queue itself, for those who look at it. Jobs are added by add-job.ts.
 * @throws DependencyError while Redis is away, if this process has not used the queue before.
 */
export function openQueue({ name }: Queue): BullQueue {
  const found = queues.get(name) ?? newQueue(name);
  queues.set(name, found);
  return found;
}

function newQueue(name: string): BullQueue {
  const connection = redis();
  if (connection.status !== 'ready') {
    // BullMQ would wait for it, without an end, and a request with it.
    throw new DependencyError(new Error(`Redis is away (${connection.status})`));
  }
  const made = new BullQueue(name, {
    connection,
    prefix: env.QUEUE_PREFIX,
    defaultJobOptions: { removeOnComplete: 1_000, removeOnFail: 1_000 },
  });
  // Outages are reported once by the connection itself.
  made.on('error', () => undefined);
  // BullMQ keeps a beginning that failed for ever. One that fell into an outage is made anew for the next job.
  made.waitUntilReady().catch(() => {
    if (queues.get(name) === made) {
      queues.delete(name);
    }
  });
  return made;
}

/** One connection a queue and process tells every request that waits. */
export function eventsOf({ name }: Queue): QueueEvents {
  let found = queueEvents.get(name);
  if (!found) {
    const connection = newWorkerConnection();
    const events = new QueueEvents(name, { connection, prefix: env.QUEUE_PREFIX });
    events.on('error', () => undefined);
    found = { events, close: () => events.close().finally(() => connection.disconnect()) };
    queueEvents.set(name, found);
  }
  return found.events;
}

export async function closeQueues(): Promise<void> {
  await Promise.all([...queues.values(), ...queueEvents.values()].map((each) => each.close()));
  queues.clear();
  queueEvents.clear();
}
