import type { Snapshot } from '../../database/mongo.js';
import { splitIntoChunks } from '../../shared/chunks-of.js';
import { addToCounters, flattenCounters, type Counters } from './counters.js';
import { buildTotalsRange } from './daily-totals.model.js';
import { readTotalsRows } from './totals-rows.js';

const accountsAtOnce = 20;

/**
 * Counters of several accounts by account and day, at the moment of the caller's snapshot. The reads do not grow with what
 * was sold.
 * @param wanted.from YYYY-MM-DD, as `to`; both included.
 * @param wanted.paths Which of the counters, by how their paths begin.
 */
export async function readTotalsOfMany(
  snapshot: Snapshot,
  wanted: { accountIds: readonly string[]; from: string; to: string; paths: readonly string[] },
): Promise<{ accountId: string; day: string; counters: Counters }[]> {
  const sums = new Map<string, { accountId: string; day: string; counters: Counters }>();
  for (const accountIds of splitIntoChunks(wanted.accountIds, accountsAtOnce)) {
    const ranges = accountIds.map((each) => buildTotalsRange(each, wanted.from, wanted.to)._id);
    for await (const { accountId, day, counters } of readTotalsRows(snapshot, ranges, wanted.paths)) {
      const key = `${accountId}|${day}`;
      const sum = sums.get(key) ?? { accountId, day, counters: new Map<string, number>() };
      addToCounters(sum.counters, flattenCounters(counters));
      sums.set(key, sum);
    }
  }
  return [...sums.values()];
}
