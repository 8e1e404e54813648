import { int64 } from '../../database/money-type.js';
import { addToCounters, type Counters, type TotalsChange } from './counters.js';
import { getTotalsId } from './daily-totals.model.js';

/** What a group of postings adds to the totals, as upserts of its slot: one for an account and day. */
export function buildTotalsStatements(changes: readonly TotalsChange[], slot: number) {
  const merged = new Map<string, TotalsChange>();
  for (const { accountId, day, add } of changes) {
    const id = getTotalsId(accountId, day, slot);
    const known = merged.get(id) ?? { accountId, day, add: new Map<string, number>() };
    addToCounters(known.add, add);
    merged.set(id, known);
  }
  return [...merged]
    .filter(([, { add }]) => add.size > 0)
    .map(([_id, { accountId, day, add }]) => ({
      q: { _id, slot, accountId },
      u: { $inc: buildIncrements(add), $setOnInsert: { day } },
      upsert: true,
    }));
}

function buildIncrements(add: Counters): Record<string, number> {
  return Object.fromEntries([...add].map(([path, value]) => [`counters.${path}`, int64(value)]));
}
