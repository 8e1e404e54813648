import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import { openQueue } from '../jobs/queues.js';
import { readCircuits } from './circuit.js';
import { getProviderQueue } from './provider-queue.js';
import { type RoutingSeller, getRoutingSellers } from './routing-cache.js';
import { consumeRateLimit } from '../redis/rate-limit.js';
import { logger } from '../shared/logger.js';

/** How long a process may go on with what it last read. */
const readTtlMs = 500;
/** An estimate that is too low would give back what was accepted. */
const safetyFactor = 1.1;

export interface Backlog {
  /** Orders that wait for their turn. */
  waiting: number;
  /** From one order to the next, in milliseconds; 0: not known, and no limit. */
  oneMs: number;
  /** Until a new order would be sent, in milliseconds. */
  expectedMs: number;
}

/** Who may say how long an order may wait, in seconds: its product, and the provider of the seller at whose offer it was accepted. */
export interface WaitLimits {
  product: number | null | undefined;
  provider: number | null | undefined;
}

/**
 * How long an order may wait for its turn, in milliseconds: as long as its product says, or else its provider, or else ten
 * minutes; never longer than its provider says.
 */
export function getMaxWaitMs(said: WaitLimits): number {
  const promisedMs = getPromisedWaitMs(said);
  return promisedMs === Infinity ? 1_000 * limits.maxWaitDefaultS : promisedMs;
}

/** The same where somebody has said it, and otherwise Infinity: then the money goes back even where its turn has come at last. */
export function getPromisedWaitMs({ product, provider }: WaitLimits): number {
  return 1_000 * Math.min(product ?? Infinity, provider ?? Infinity);
}

const cachedCounts = new Map<string, { waiting: number; untilMs: number }>();

/** What waits for these sellers' providers, at most half a second old. While Redis is away: nothing that is known of. */
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

/** One more, before Redis says so: of a thousand purchases in a moment the last ones must see the first. */
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
    // The outage is reported by the connection itself.
    return 0;
  }
}

/**
 * Where an order goes in its provider's queue (decision 021). First come, first served, but for those whose client holds a
 * connection open for the outcome: a part of the turns is theirs, so that they overtake the others and never keep them waiting
 * for good.
 */

/** Priorities of BullMQ: what has none goes before what has one, and each of both is first come, first served. */
export const jobPriorities = { ahead: 0, usual: 1 } as const;

/** One turn in so many goes at most to those ahead. */
const turnsPerPriorityTurn = 4;
/** What is ahead is counted in windows of so long at least. */
const windowMinMs = 5_000;

/**
 * The place of an order whose client waits for the outcome. Never throws; while Redis is away each process counts for itself.
 * @returns a priority of BullMQ.
 */
export async function getAwaitedPriority(sellerId: string): Promise<number> {
  try {
    return (await takePriorityTurn(sellerId)) ? jobPriorities.ahead : jobPriorities.usual;
  } catch (error) {
    logger.warn('the place of an order is not known', { sellerId, error });
    return jobPriorities.usual;
  }
}

/** Counts it, if there is anybody to overtake. */
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
