import { buildBase } from '../../../src/money/totals/write-totals.js';
import { addToCounters, nestCounters, type Counters } from '../../../src/money/totals/counters.js';
import { dailyTotals, getTotalsId } from '../../../src/money/totals/daily-totals.model.js';
import type { Purchase } from '../../../src/purchases/purchase.model.js';
import { buildTotalsChanges } from '../../../src/purchases/purchase-totals.js';
import { getBusinessDay } from '../../../src/shared/business-time.js';
import type { BulkWriter } from './bulk-writer.js';
import type { Chance } from './chance.js';

/**
 * Daily totals of purchases that arrive in time order. Past days are merged, and the last two days
 * remain in slots.
 */
export interface DayTotals {
  count(purchase: Purchase): void;
  end(): void;
}

/** Number of slots that concurrent groups of postings use. */
const slotsUsed = 8;

export function dayTotals(
  { writer, chance }: { writer: BulkWriter; chance: Chance },
  { foldedUntil }: { foldedUntil: string },
): DayTotals {
  let current = '';
  const sums = new Map<string, { accountId: string; slot: number | null; sum: Counters }>();
  const flush = () => {
    for (const { accountId, slot, sum } of sums.values()) {
      const row =
        slot === null
          ? buildBase(accountId, current, sum)
          : { accountId, day: current, slot, counters: nestCounters(sum) };
      writer.add(dailyTotals.collectionName, { _id: getTotalsId(accountId, current, slot), ...row });
    }
    sums.clear();
  };
  return {
    count(purchase) {
      const { day } = getBusinessDay(purchase.createdAt);
      if (day !== current) {
        flush();
        current = day;
      }
      const slot = day < foldedUntil ? null : chance.below(slotsUsed);
      for (const { accountId, add } of buildTotalsChanges(null, purchase)) {
        const key = getTotalsId(accountId, day, slot);
        const known = sums.get(key) ?? { accountId, slot, sum: new Map<string, number>() };
        sums.set(key, known);
        addToCounters(known.sum, add);
      }
    },
    end: flush,
  };
}
