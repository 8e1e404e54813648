import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import { openQueue } from '../jobs/queues.js';
import { readCircuits } from './circuit.js';
import { getProviderQueue } from './provider-queue.js';
import { type RoutingSeller, getRoutingSellers } from './routing-cache.js';
import { consumeRateLimit } from '../redis/rate-limit.js';
import { logger } from '../shared/logger.js';

/** Milliseconds that a process caches a count. */
const readTtlMs = 500;
/**
 * Multiplier of the estimate. An estimate that is too low would lead to refunds of accepted orders.
 */
const safetyFactor = 1.1;

export interface Backlog {
  /** Orders waiting for their turn. */
  waiting: number;
  /** Milliseconds from one order to the next; 0: unknown, and unlimited. */
  oneMs: number;
  /** Milliseconds until a new order would be sent. */
  expectedMs: number;
}

/**
 * Maximum waits of an order in seconds: of its product, and of the provider of the seller that it
 * was accepted at.
 */
export interface WaitLimits {
  product: number | null | undefined;
  provider: number | null | undefined;
}

/**
 * Returns the maximum wait of an order in milliseconds: the product's, else the provider's, else
 * the default of ten minutes. It never exceeds the provider's.
 */
export function getMaxWaitMs(waitLimits: WaitLimits): number {
  const promisedMs = getConfiguredWaitMs(waitLimits);
  return promisedMs === Infinity ? 1_000 * limits.maxWaitDefaultS : promisedMs;
}

/**
 * Returns the configured maximum wait in milliseconds, or Infinity if none is set. After a
 * configured wait an order is refunded even if its turn has come.
 */
export function getConfiguredWaitMs({ product, provider }: WaitLimits): number {
  return 1_000 * Math.min(product ?? Infinity, provider ?? Infinity);
}

const cachedCounts = new Map<string, { waiting: number; untilMs: number }>();

/**
 * Returns the backlogs of these sellers' providers, at most half a second old. While Redis is
 * unavailable the backlog is 0.
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
 * Counts a new order before the cached count is refreshed, so that concurrent purchases see each
 * other.
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
    // The connection reports the outage itself.
    return 0;
  }
}

/**
 * Priorities of BullMQ. BullMQ runs unprioritised jobs first; jobs of equal priority run first
 * come, first served.
 */
export const jobPriorities = { ahead: 0, usual: 1 } as const;

/**
 * At most one turn in this many goes to orders of waiting clients, so that they never starve the
 * others (decision 021).
 */
const turnsPerPriorityTurn = 4;
/** Minimum length in milliseconds of the window that counts these turns. */
const windowMinMs = 5_000;

/**
 * Returns the BullMQ priority of an order whose client waits for the outcome. Never throws; while
 * Redis is unavailable each process counts for itself.
 */
export async function getAwaitedPriority(sellerId: string): Promise<number> {
  try {
    return (await takePriorityTurn(sellerId)) ? jobPriorities.ahead : jobPriorities.usual;
  } catch (error) {
    logger.warn('priority of an order could not be determined', { sellerId, error });
    return jobPriorities.usual;
  }
}

/** Takes a priority turn. Nothing is counted while no order waits. */
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
