/**
 * Each provider has its own queue, so that a slow provider does not delay orders to another
 * (decision 020). Orders in a queue are served in order of arrival.
 */
import { env } from '../../config/env.js';
import { defineQueue, type Queue } from '../jobs/define-job.js';
import { openQueue, getQueuePrefix } from '../jobs/queues.js';
import { redis } from '../redis/connection.js';
import { nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { readCircuits } from './circuit.js';
import { getRoutingSellers, type RoutingSeller } from './routing-cache.js';

const namePrefix = 'fulfilment-';

const queues = new Map<string, Queue>();

/** Returns the queue of a seller's provider, without the provider's current limits. */
export function getProviderQueue(sellerId: string): Queue {
  const found =
    queues.get(sellerId) ??
    defineQueue({
      name: `${namePrefix}${sellerId}`,
      does: 'Orders that wait for their turn at the provider of a seller',
      concurrency: env.FULFILMENT_CONCURRENCY,
    });
  queues.set(sellerId, found);
  return found;
}

export function isProviderQueue({ name }: Queue): boolean {
  return name.startsWith(namePrefix);
}

export interface ProviderQueue {
  sellerId: string;
  /** The queue with the limits that apply now. */
  queue: Queue;
}

/**
 * Returns the queue of each seller with a provider, and the non-empty queues of sellers whose
 * provider was removed.
 */
export async function listProviderQueues(): Promise<ProviderQueue[]> {
  const sellers = [...(await getRoutingSellers()).values()].filter(({ provider }) => provider !== null);
  const ids = sellers.map(({ _id }) => _id);
  const [circuits, left] = await Promise.all([readCircuits(ids), findAbandonedSellers(ids)]);
  return [
    ...sellers.map((seller) => ({
      sellerId: seller._id,
      queue: applyLimits(seller, circuits.get(seller._id)?.state === 'closed'),
    })),
    ...left.map((sellerId) => ({ sellerId, queue: getProviderQueue(sellerId) })),
  ];
}

/**
 * Applies the provider's own limits while its circuit is closed. Otherwise a job reroutes its order
 * or postpones it without a call, so no limit applies. The concurrency is then doubled, to leave
 * room for calls that hang.
 */
function applyLimits({ _id, username, status, provider, state }: RoutingSeller, isClosed: boolean): Queue {
  const queue = { ...getProviderQueue(_id), title: `fulfilment: ${username}` };
  if (!isClosed || status !== 'active' || state?.paused) {
    return { ...queue, concurrency: 2 * queue.concurrency };
  }
  const { concurrency = null, callsPerSecond = null } = provider ?? {};
  return { ...queue, fleet: { concurrency, perSecond: callsPerSecond } };
}

const registerEveryMs = 30_000;
/**
 * Milliseconds for which a removed provider keeps its queue. By then the sweep has visited every
 * purchase in it.
 */
const lingerMs = 120_000;
let registeredSellers = { ids: '', atMs: -Infinity, left: [] as string[] };

/** Finds sellers that once had a queue and no longer have a provider, from a register in Redis. */
async function findAbandonedSellers(present: string[]): Promise<string[]> {
  const ids = present.join();
  if (ids !== registeredSellers.ids || performance.now() - registeredSellers.atMs > registerEveryMs) {
    if (present.length > 0) {
      await redis().zadd(getRegisterKey(), 'GT', ...present.flatMap((id) => [String(nowMs()), id]));
    }
    const known = await redis().zrange(getRegisterKey(), '0', '-1');
    const left = known.filter((id) => !present.includes(id));
    registeredSellers = { ids, atMs: performance.now(), left };
  }
  return registeredSellers.left;
}

/**
 * Removes the empty queues of removed providers from Redis.
 *
 * A seller stays in the register for at least one more run. A process that still opens the queue
 * would create its Redis keys again, so the seller is removed only when a run finds no keys.
 */
export async function removeEmptyQueues(): Promise<void> {
  const sellers = await getRoutingSellers();
  const known = await redis().zrangebyscore(getRegisterKey(), '-inf', nowMs() - lingerMs);
  for (const sellerId of known.filter((id) => !sellers.get(id)?.provider)) {
    const queue = getProviderQueue(sellerId);
    if ((await redis().exists(`${getQueuePrefix(queue)}:${queue.name}:meta`)) === 0) {
      await redis().zrem(getRegisterKey(), sellerId);
      continue;
    }
    const opened = openQueue(queue);
    const counts = await opened.getJobCounts('wait', 'active', 'delayed', 'prioritized');
    if (Object.values(counts).every((count) => count === 0)) {
      await opened.obliterate({ force: true });
      logger.info('empty queue of a removed provider was deleted', { sellerId });
    }
  }
}

/**
 * Returns the Redis key of the register: sellers, scored by the time when they last had a provider.
 */
function getRegisterKey(): string {
  return `${env.QUEUE_PREFIX}:provider-queues`;
}
