import { newBase } from '../../../src/money/totals/base.js';
import { countAll, nested, type Counters } from '../../../src/money/totals/counters.js';
import { dailyTotals, idOfTotals } from '../../../src/money/totals/daily-totals.model.js';
import type { Purchase } from '../../../src/purchases/purchase.model.js';
import { totalsOf } from '../../../src/purchases/totals-of.js';
import { businessDayOf } from '../../../src/shared/business-time.js';
import type { BulkWriter } from './bulk-writer.js';
import type { Chance } from './chance.js';

/** The daily totals of purchases that come in the order of their time: past days are folded, the last two stand in slots. */
export interface DayTotals {
  count(purchase: Purchase): void;
  end(): void;
}

/** As many as groups of postings wrote at once. */
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
          ? newBase(accountId, current, sum)
          : { accountId, day: current, slot, counters: nested(sum) };
      writer.add(dailyTotals.collectionName, { _id: idOfTotals(accountId, current, slot), ...row });
    }
    sums.clear();
  };
  return {
    count(purchase) {
      const { day } = businessDayOf(purchase.createdAt);
      if (day !== current) {
        flush();
        current = day;
      }
      const slot = day < foldedUntil ? null : chance.below(slotsUsed);
      for (const { accountId, add } of totalsOf(null, purchase)) {
        const key = idOfTotals(accountId, day, slot);
        const known = sums.get(key) ?? { accountId, slot, sum: new Map<string, number>() };
        sums.set(key, known);
        countAll(known.sum, add);
      }
    },
    end: flush,
  };
}
