/**
 * Where an order goes in its provider's queue (decision 021). First come, first served, but for those whose client holds a
 * connection open for the outcome: a part of the turns is theirs, so that they overtake the others and never keep them waiting
 * for good.
 */
import { consumeRateLimit } from '../redis/take-from-limit.js';
import { logger } from '../shared/logger.js';
import { readBacklogs } from './backlog.js';
import { getRoutingSellers } from './route-board.js';

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
