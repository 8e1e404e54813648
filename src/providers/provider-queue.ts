/**
 * A queue a provider: orders wait in it for their turn, first come first served, and one provider keeps no other's
 * orders up (decision 020).
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

/** The queue of a seller's provider, as those know it who add to it and look at it. */
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
  /** With the limits that hold just now. */
  queue: Queue;
}

/**
 * The queues that there are: of each seller with a provider, and those left behind by sellers that have none any more,
 * until they are empty.
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
 * While the provider serves, its own limits hold. While it does not, its orders go on to others or wait elsewhere, which
 * costs it no call: nothing holds them up, and there is room beside the calls that hang.
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
/** By then the sweep has looked at every purchase that waits in the queue of a provider that is gone. */
const lingerMs = 120_000;
let registered = { ids: '', atMs: -Infinity, left: [] as string[] };

/** Sellers whose queue was once worked on and who have no provider any more. Noted in Redis, looked at now and then. */
async function findAbandonedSellers(present: string[]): Promise<string[]> {
  const ids = present.join();
  if (ids !== registered.ids || performance.now() - registered.atMs > registerEveryMs) {
    if (present.length > 0) {
      await redis().zadd(getRegisterKey(), 'GT', ...present.flatMap((id) => [String(nowMs()), id]));
    }
    const known = await redis().zrange(getRegisterKey(), '0', '-1');
    const left = known.filter((id) => !present.includes(id));
    registered = { ids, atMs: performance.now(), left };
  }
  return registered.left;
}

/**
 * Of a provider that was taken away nothing stays in Redis once its last job has gone elsewhere. Its seller is forgotten a round
 * later, when nothing stands there any more: a process that looks at the queue for the first time makes its keys anew.
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
      logger.info('the queue of a provider that is gone was removed', { sellerId });
    }
  }
}

/** Sellers with the time at which they last had a provider. */
function getRegisterKey(): string {
  return `${env.QUEUE_PREFIX}:provider-queues`;
}
