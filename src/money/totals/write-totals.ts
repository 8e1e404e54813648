import { toInt64 } from '../../database/typed-collection.js';
import { addToCounters, type Counters, type TotalsChange, nestCounters } from './counters.js';
import { getTotalsId, dailyTotals } from './daily-totals.model.js';
import { isDuplicateKey } from '../../database/mongo.js';
import { newId } from '../../shared/ids.js';

/**
 * Builds the upserts that add a group's changes to the totals of a slot, one for each account and
 * day.
 */
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
  return Object.fromEntries([...add].map(([path, value]) => [`counters.${path}`, toInt64(value)]));
}

/** Builds a stored base, without its id. */
export function buildBase(accountId: string, day: string, sum: Counters) {
  return { accountId, day, slot: null, counters: nestCounters(sum), version: newId() };
}

/**
 * Replaces a base unless folding or rebuilding has changed the base since it was read.
 * @param version The version of the base that was read. Null if there was no base.
 * @returns True if the base was replaced.
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
