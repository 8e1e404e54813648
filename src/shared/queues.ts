/**
 * The queues, one per kind of work. Payloads carry ids and a version `v`, never money or secrets: state is read
 * from MongoDB. Jobs only save time; whoever loses one is healed by the sweeper (see money.md).
 */
import { Queue, QueueEvents, Worker, type Job, type WorkerOptions } from 'bullmq';
import { env } from '../../config/env.js';
import { DependencyError } from './errors.js';
import { logger } from './logger.js';
import { newWorkerConnection, redis } from './redis.js';

export interface JobPayloads {
  fulfilment: { v: 1; transactionId: string };
  polling: { v: 1; transactionId: string };
  webhooks: { v: 1; receiverId: string };
  sellerPostings: { v: 1; sellerId: string };
  settlements: { v: 1; settlementId: string };
  reports: { v: 1; reportId: string };
  inquiries: { v: 1; inquiryId: string };
}
export type QueueName = keyof JobPayloads;

/** Words for the operator's console. */
export const queueDescriptions: Record<QueueName, string> = {
  fulfilment: 'Sends purchases to a provider',
  polling: 'Asks providers about open purchases',
  webhooks: 'Delivers webhooks and callbacks, one token a receiver',
  sellerPostings: 'Posts sales to seller wallets',
  settlements: 'Pays out settlements',
  reports: 'Generates reports',
  inquiries: 'Asks providers for bills',
};
export const queueNames = Object.keys(queueDescriptions) as QueueName[];

const queues = new Map<QueueName, Queue>();

/** @throws DependencyError while Redis is away, if this process has not used the queue before. */
export function queue<N extends QueueName>(name: N): Queue<JobPayloads[N]> {
  const found = queues.get(name) ?? newQueue(name);
  queues.set(name, found);
  return found as Queue<JobPayloads[N]>;
}

function newQueue(name: QueueName): Queue {
  const connection = redis();
  if (connection.status !== 'ready') {
    // BullMQ would wait for it, without an end, and a request with it.
    throw new DependencyError(new Error(`Redis is away (${connection.status})`));
  }
  const made = new Queue(name, {
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

/** Starts a worker of a queue in this process. It ends with `close()`, which lets jobs under way finish. */
export function startWorker<N extends QueueName>(
  name: N,
  handle: (job: Job<JobPayloads[N]>) => Promise<void>,
  options: Partial<WorkerOptions> = {},
): Worker<JobPayloads[N]> {
  const connection = newWorkerConnection();
  const worker = new Worker<JobPayloads[N]>(name, handle, {
    connection,
    prefix: env.QUEUE_PREFIX,
    // A worker that is killed must not keep its jobs for long: they are taken over after about 15 s.
    lockDuration: 10_000,
    stalledInterval: 3_000,
    maxStalledCount: 10,
    ...options,
  });
  worker.on('error', () => undefined);
  // BullMQ leaves a connection open that it was given.
  worker.on('closed', () => connection.disconnect());
  worker.on('failed', (job, error) => {
    logger.error('job failed', { queue: name, jobId: job?.id, data: job?.data, error });
  });
  return worker;
}

const queueEvents = new Map<QueueName, { events: QueueEvents; close: () => Promise<void> }>();

/**
 * Adds a job and waits until a worker has finished it. What the job found is in MongoDB, not in its result.
 * @returns false if no worker was done within `timeoutMs`: the job goes on.
 * @throws DependencyError (503/03) while Redis is away.
 */
export async function addAndWait<N extends QueueName>(
  name: N,
  data: JobPayloads[N],
  { jobId, timeoutMs }: { jobId: string; timeoutMs: number },
): Promise<boolean> {
  let job: Job<JobPayloads[N]>;
  try {
    job = (await queue(name).add(name as never, data as never, { jobId })) as Job<JobPayloads[N]>;
  } catch (error) {
    throw new DependencyError(error);
  }
  // For BullMQ 0 means for ever.
  if (timeoutMs === 0) {
    return false;
  }
  return job.waitUntilFinished(eventsOf(name), timeoutMs).then(
    () => true,
    () => false,
  );
}

/** One connection a queue and process tells every request that waits. */
function eventsOf(name: QueueName): QueueEvents {
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
