import type { Snapshot } from '../../database/mongo.js';
import { countAll, flat, type Counters } from './counters.js';
import { dailyTotals, idOfTotals, type StoredCounters } from './daily-totals.model.js';

/** Twenty accounts, two days and every slot of them are one answer of MongoDB, with room to spare. */
const accountsAtOnce = 20;
const batchSize = 10_000;

/**
 * Counters of several accounts on the days named, by account and day, at the moment of the caller's snapshot. Bases by
 * their ids, slots by their index: the reads do not grow with what was sold.
 * @param wanted.paths Which of the counters, by how their paths begin.
 */
export async function readTotalsOfMany(
  snapshot: Snapshot,
  wanted: { accountIds: readonly string[]; days: readonly string[]; paths: readonly string[] },
): Promise<{ accountId: string; day: string; counters: Counters }[]> {
  const { days } = wanted;
  const projection = {
    ...{ _id: 0, accountId: 1, day: 1 },
    ...Object.fromEntries(wanted.paths.map((path) => [`counters.${path}`, 1])),
  };
  const sums = new Map<string, { accountId: string; day: string; counters: Counters }>();
  for (let at = 0; at < wanted.accountIds.length; at += accountsAtOnce) {
    const accountIds = wanted.accountIds.slice(at, at + accountsAtOnce);
    const accountId = { $in: accountIds };
    const bases = accountIds.flatMap((each) => days.map((day) => idOfTotals(each, day, null)));
    for (const filter of [
      { _id: { $in: bases }, slot: null, accountId },
      { slot: { $gte: 0 }, day: { $in: [...days] }, accountId },
    ]) {
      const found = await dailyTotals
        .find(filter, { ...snapshot, batchSize })
        .project<{ accountId: string; day: string; counters?: StoredCounters }>(projection)
        .toArray();
      for (const each of found) {
        const key = `${each.accountId}|${each.day}`;
        const sum = sums.get(key) ?? {
          accountId: each.accountId,
          day: each.day,
          counters: new Map<string, number>(),
        };
        countAll(sum.counters, flat(each.counters ?? {}));
        sums.set(key, sum);
      }
    }
  }
  return [...sums.values()];
}
