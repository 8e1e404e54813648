import type { Filter } from 'mongodb';
import type { Snapshot } from '../../database/mongo.js';
import {
  dailyTotals,
  type DailyTotals,
  buildTotalsRange,
  type StoredCounters,
} from './daily-totals.model.js';
import { addToCounter, addToCounters, flattenCounters, type Counters } from './counters.js';
import { splitIntoChunks } from '../../shared/collections.js';

const pageSize = 2_000;

/** A range of document ids. */
interface Range {
  $gte: string;
  $lt: string;
}

type Row = Pick<DailyTotals, '_id' | 'accountId' | 'day' | 'slot' | 'counters' | 'version'>;

/**
 * Yields totals documents within ranges of ids, in id order, at the caller's snapshot.
 *
 * Each page is a separate query, because in a snapshot session the driver sends a read concern with
 * getMore, which MongoDB rejects. A page also ends at 16 MB, so a short page may not be the last.
 *
 * @param paths Prefixes of the counters to read. Null means all counters.
 */
export async function* readTotalsRows(
  snapshot: Snapshot,
  ranges: readonly Range[],
  paths: readonly string[] | null,
): AsyncGenerator<Row> {
  const options = { ...snapshot, singleBatch: true, limit: pageSize, batchSize: pageSize };
  const projection = paths && {
    accountId: 1,
    day: 1,
    slot: 1,
    version: 1,
    ...Object.fromEntries(paths.map((path) => [`counters.${path}`, 1])),
  };
  for (let left = [...ranges]; left.length > 0;) {
    const page = await dailyTotals
      .find(buildRangeFilter(left), options)
      .project<Omit<Row, 'counters'> & Partial<Row>>(projection ?? {})
      .sort({ _id: 1 })
      .toArray();
    for (const row of page) {
      yield { ...row, counters: row.counters ?? {} };
    }
    const last = page.at(-1);
    if (!last) {
      return;
    }
    // The smallest id after the last one. Ranges that end before it are dropped.
    const next = `${last._id}\0`;
    left = left
      .filter(({ $lt }) => $lt > next)
      .map(({ $gte, $lt }) => ({ $gte: $gte > next ? $gte : next, $lt }));
  }
}

/**
 * For a single range, the simplest query is enough. MongoDB merges several ranges of one index in
 * order.
 */
function buildRangeFilter(ranges: readonly Range[]): Filter<DailyTotals> {
  const filters = ranges.map((_id) => ({ _id }));
  return filters.length === 1 ? { ...filters[0] } : { $or: filters };
}

/**
 * Reads an account's counters below `path` by business day, newest first. The keys are the rest of
 * their paths. Days without counters are absent. It reads one document per day, plus the slots of
 * days that are not folded.
 *
 * It uses the caller's snapshot, because a plain cursor would miss slots that are folded between
 * two batches.
 */
export async function readTotals(
  snapshot: Snapshot,
  wanted: {
    accountId: string;
    /** First day, YYYY-MM-DD, inclusive. */
    from: string;
    /** Last day, YYYY-MM-DD, inclusive. */
    to: string;
    path: string;
    /** First path steps below `path` to read. If absent, all are read. */
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

/**
 * Reads the stored base and slots of one account and day at the caller's snapshot. `version` is the
 * version of the base.
 */
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

/** Returns the counters that differ, with the value on both sides. */
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

const accountBatchSize = 20;

/**
 * Reads counters of several accounts by account and day, at the caller's snapshot. The cost does
 * not grow with the number of sales.
 * @param wanted.from First day, YYYY-MM-DD, inclusive.
 * @param wanted.paths Prefixes of the counters to read.
 */
export async function readTotalsOfMany(
  snapshot: Snapshot,
  wanted: { accountIds: readonly string[]; from: string; to: string; paths: readonly string[] },
): Promise<{ accountId: string; day: string; counters: Counters }[]> {
  const sums = new Map<string, { accountId: string; day: string; counters: Counters }>();
  for (const accountIds of splitIntoChunks(wanted.accountIds, accountBatchSize)) {
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
