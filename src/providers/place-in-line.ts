/**
 * Where an order goes in its provider's queue (decision 021). First come, first served, but for those whose client holds a
 * connection open for the outcome: a part of the turns is theirs, so that they overtake the others and never keep them waiting
 * for good.
 */
import { takeFromLimit } from '../redis/take-from-limit.js';
import { logger } from '../shared/logger.js';
import { backlogsOf } from './backlog.js';
import { routingSellers } from './route-board.js';

/** Priorities of BullMQ: what has none goes before what has one, and each of both is first come, first served. */
export const places = { ahead: 0, usual: 1 } as const;

/** One turn in so many goes at most to those ahead. */
const turnsForOneAhead = 4;
/** What is ahead is counted in windows of so long at least. */
const windowMinMs = 5_000;

/**
 * The place of an order whose client waits for the outcome. Never throws; while Redis is away each process counts for itself.
 * @returns a priority of BullMQ.
 */
export async function placeOfAwaited(sellerId: string): Promise<number> {
  try {
    return (await isTurnOfAhead(sellerId)) ? places.ahead : places.usual;
  } catch (error) {
    logger.warn('the place of an order is not known', { sellerId, error });
    return places.usual;
  }
}

/** Counts it, if there is anybody to overtake. */
async function isTurnOfAhead(sellerId: string): Promise<boolean> {
  const seller = (await routingSellers()).get(sellerId);
  const { waiting = 0, oneMs = 0 } = (seller && (await backlogsOf([seller])).get(sellerId)) ?? {};
  if (waiting === 0) {
    return true;
  }
  const shareMs = turnsForOneAhead * Math.max(1, oneMs);
  const windowMs = Math.ceil(Math.max(windowMinMs, shareMs));
  const max = Math.floor(windowMs / shareMs);
  return (await takeFromLimit(`ahead:${sellerId}`, { max, windowMs })).accepted;
}
