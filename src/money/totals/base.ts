import { isDuplicateKey } from '../../database/mongo.js';
import { newId } from '../../shared/ids.js';
import { nestCounters, type Counters } from './counters.js';
import { dailyTotals, getTotalsId } from './daily-totals.model.js';

/** A base as it is stored, but for its id. */
export function buildBase(accountId: string, day: string, sum: Counters) {
  return { accountId, day, slot: null, counters: nestCounters(sum), version: newId() };
}

/**
 * Replaces a base, unless it has changed since it was read: then days were folded into it, or rebuilt.
 * @param version Of the base that was read; null: there was none.
 * @returns whether it was replaced.
 */
export async function replaceBase(
  { accountId, day, version }: { accountId: string; day: string; version: string | null },
  sum: Counters,
): Promise<boolean> {
  const _id = getTotalsId(accountId, day, null);
  const base = buildBase(accountId, day, sum);
  if (version !== null) {
    return (await dailyTotals.replaceOne({ _id, slot: null, accountId, version }, base)).matchedCount === 1;
  }
  try {
    await dailyTotals.insertOne({ _id, ...base });
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) {
      return false;
    }
    throw error;
  }
}
