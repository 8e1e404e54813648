import type { Snapshot } from '../../database/mongo.js';
import { addToCounter, addToCounters, flattenCounters, type Counters } from './counters.js';
import { buildTotalsRange, type StoredCounters } from './daily-totals.model.js';
import { readTotalsRows } from './totals-rows.js';

/**
 * Counters of an account by business day, newest first: those below `path`, by the rest of their path. Days without
 * any are left out. At most a document a day, and one more for each slot of the days that are not folded.
 *
 * At the moment of the caller's snapshot: a plain cursor reads a day's base, and misses its slots if they are folded into
 * the base between two of its batches.
 */
export async function readTotals(
  snapshot: Snapshot,
  wanted: {
    accountId: string;
    /** YYYY-MM-DD, both included. */
    from: string;
    to: string;
    path: string;
    /** Which of those below it are read: the first steps of their paths. Left out: all. */
    only?: readonly string[];
  },
): Promise<Map<string, Counters>> {
  const read = wanted.only?.map((step) => `${wanted.path}.${step}`) ?? [wanted.path];
  const range = buildTotalsRange(wanted.accountId, wanted.from, wanted.to)._id;
  const days = new Map<string, Counters>();
  for await (const { day, counters } of readTotalsRows(snapshot, [range], read)) {
    const below = wanted.path
      .split('.')
      .reduce<StoredCounters | undefined>((at, step) => at?.[step] as StoredCounters | undefined, counters);
    const sum = days.get(day) ?? new Map<string, number>();
    addToCounters(sum, flattenCounters(below ?? {}));
    days.set(day, sum);
  }
  return new Map([...days].reverse());
}

/** What is stored of one account and day, at the moment of the caller's snapshot. `version` is of the base. */
export async function readStoredDay(
  snapshot: Snapshot,
  accountId: string,
  day: string,
): Promise<{ base: Counters; slots: Counters; version: string | null }> {
  const base: Counters = new Map();
  const slots: Counters = new Map();
  let version: string | null = null;
  for await (const each of readTotalsRows(snapshot, [buildTotalsRange(accountId, day, day)._id], null)) {
    addToCounters(each.slot === null ? base : slots, flattenCounters(each.counters));
    version ??= each.version ?? null;
  }
  return { base, slots, version };
}

/** The counters that two have otherwise, with what each says. */
export function compareCounters(
  one: Counters,
  other: Counters,
): { path: string; one: number; other: number }[] {
  const difference: Counters = new Map(one);
  other.forEach((value, path) => {
    addToCounter(difference, path, -value);
  });
  return [...difference.keys()].map((path) => ({
    path,
    one: one.get(path) ?? 0,
    other: other.get(path) ?? 0,
  }));
}
