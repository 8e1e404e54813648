import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import { openQueue } from '../jobs/queues.js';
import { readCircuits } from './circuit.js';
import { getProviderQueue } from './provider-queue.js';
import { type RoutingSeller, getRoutingSellers } from './routing-cache.js';
import { consumeRateLimit } from '../redis/rate-limit.js';
import { logger } from '../shared/logger.js';

/** Milliseconds for which a process caches a count. */
const readTtlMs = 500;
/**
 * Safety factor of the estimated wait. An estimate that is too low would lead to refunds of
 * accepted orders.
 */
const safetyFactor = 1.1;

export interface Backlog {
  /** Number of orders that wait in the queue. */
  waiting: number;
  /**
   * Milliseconds from one order to the next. 0 if the provider has no limit or the rate is unknown.
   */
  oneMs: number;
  /** Estimated milliseconds until a new order would be sent. */
  expectedMs: number;
}

/**
 * Maximum waits of an order in seconds: the limit of its product, and the limit of the provider
 * that serves the accepted offer.
 */
export interface WaitLimits {
  product: number | null | undefined;
  provider: number | null | undefined;
}

/**
 * Returns the maximum wait of an order in milliseconds: the lower limit of product and provider, or
 * ten minutes if neither has one.
 */
export function getMaxWaitMs(waitLimits: WaitLimits): number {
  const promisedMs = getConfiguredWaitMs(waitLimits);
  return promisedMs === Infinity ? 1_000 * limits.maxWaitDefaultS : promisedMs;
}

/**
 * Returns the lower of the configured limits in milliseconds, or Infinity if none is set. An order
 * that has waited this long is refunded, even if it is next in the queue.
 */
export function getConfiguredWaitMs({ product, provider }: WaitLimits): number {
  return 1_000 * Math.min(product ?? Infinity, provider ?? Infinity);
}

const cachedCounts = new Map<string, { waiting: number; untilMs: number }>();

/**
 * Returns the backlogs of these sellers' providers, at most half a second old. While Redis is
 * unavailable, every backlog is reported as 0.
 */
export async function readBacklogs(
  sellers: Pick<RoutingSeller, '_id' | 'provider'>[],
): Promise<Map<string, Backlog>> {
  const ids = sellers.map(({ _id }) => _id);
  const [circuits] = await Promise.all([readCircuits(ids), refreshStale(ids)]);
  return new Map(
    sellers.map(({ _id, provider }) => {
      const { callsPerSecond, concurrency } = provider ?? {};
      const waiting = cachedCounts.get(_id)?.waiting ?? 0;
      const { meanMs = 0, pauseMs = 0 } = circuits.get(_id) ?? {};
      const oneMs = Math.max(
        callsPerSecond ? 1_000 / callsPerSecond : 0,
        meanMs / (concurrency ?? env.FULFILMENT_CONCURRENCY),
      );
      return [_id, { waiting, oneMs, expectedMs: Math.round(pauseMs + safetyFactor * waiting * oneMs) }];
    }),
  );
}

/**
 * Adds a new order to the cached count, so that concurrent purchases see each other before the next
 * refresh.
 */
export function countWaiting(sellerId: string): void {
  const found = cachedCounts.get(sellerId);
  if (found) {
    found.waiting += 1;
  }
}

async function refreshStale(ids: string[]): Promise<void> {
  const nowMs = performance.now();
  const stale = ids.filter((id) => (cachedCounts.get(id)?.untilMs ?? -Infinity) <= nowMs);
  await Promise.all(
    stale.map(async (id) => {
      const waiting = await countJobs(id);
      cachedCounts.set(id, { waiting, untilMs: nowMs + readTtlMs });
    }),
  );
}

async function countJobs(sellerId: string): Promise<number> {
  try {
    const counts = await openQueue(getProviderQueue(sellerId)).getJobCounts('wait', 'prioritized');
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  } catch {
    // The Redis connection reports the outage itself.
    return 0;
  }
}

/**
 * Job priorities in BullMQ, which runs unprioritised jobs first. Jobs of equal priority run in
 * order of arrival.
 */
export const jobPriorities = { ahead: 0, usual: 1 } as const;

/**
 * At most one in this many orders of a queue gets priority because its client waits, so that such
 * orders never starve the others (decision 021).
 */
const turnsPerPriorityTurn = 4;
/** Minimum length in milliseconds of the window in which prioritised orders are counted. */
const windowMinMs = 5_000;

/**
 * Returns the BullMQ priority of an order whose client waits for the outcome. Never throws. While
 * Redis is unavailable, each process counts its own orders.
 */
export async function getAwaitedPriority(sellerId: string): Promise<number> {
  try {
    return (await takePriorityTurn(sellerId)) ? jobPriorities.ahead : jobPriorities.usual;
  } catch (error) {
    logger.warn('priority of an order could not be determined', { sellerId, error });
    return jobPriorities.usual;
  }
}

/** Returns true if one more order may have priority. Counts nothing while no order waits. */
async function takePriorityTurn(sellerId: string): Promise<boolean> {
  const seller = (await getRoutingSellers()).get(sellerId);
  const { waiting = 0, oneMs = 0 } = (seller && (await readBacklogs([seller])).get(sellerId)) ?? {};
  if (waiting === 0) {
    return true;
  }
  const shareMs = turnsPerPriorityTurn * Math.max(1, oneMs);
  const windowMs = Math.ceil(Math.max(windowMinMs, shareMs));
  const max = Math.floor(windowMs / shareMs);
  return (await consumeRateLimit(`ahead:${sellerId}`, { max, windowMs })).accepted;
}
