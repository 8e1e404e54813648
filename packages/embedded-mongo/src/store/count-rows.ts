import { keysOf } from '../values/fields.js';
import { visibleVersion, versionsOf, type Collection } from './collection.js';
import { executePlan, type RowQuery, type ScanStats } from './find-rows.js';
import { isMultikey, getIndexKeys } from './index-definition.js';
import { boundsMatchFilterExactly, planQuery, type IndexPlan, type Plan } from './plan.js';
import { getDocument, type Version } from './record.js';
import { countEntries } from './sorted-list.js';
import type { Transaction } from './transaction.js';

/**
 * Counts the documents of a query as the reader sees them. If an index range contains exactly the
 * matching documents, only the two ends of the range are searched.
 */
export function countRows(collection: Collection, reader: Transaction | null, query: RowQuery): number {
  if (keysOf(query.filter).length === 0 && (query.hint === undefined || query.hint === null)) {
    return applySkipAndLimit(query, countAll(collection, reader));
  }
  const plan = planQuery(collection, { filter: query.filter, sort: undefined, hint: query.hint });
  const stats = { keysExamined: 0, docsExamined: 0 };
  return executeCount(collection, reader, { plan, query: { ...query, sort: undefined }, stats });
}

/** Runs the plan of a count. Adds the numbers of examined keys and documents to `stats`. */
export function executeCount(
  collection: Collection,
  reader: Transaction | null,
  { plan, query, stats }: { plan: Plan; query: RowQuery; stats: ScanStats },
): number {
  return isCountable(plan, query)
    ? applySkipAndLimit(query, countInIndex(collection, reader, { plan, stats }))
    : executePlan(collection, reader, { plan, query, stats }).length;
}

/** True if the index bounds contain exactly one entry for each matching document. */
export function isCountable(plan: Plan, { filter }: RowQuery): plan is IndexPlan {
  if (plan.kind !== 'index' || !boundsMatchFilterExactly(plan, filter)) {
    return false;
  }
  // A document has one entry for each element of an array. An equality selects one of these
  // entries. A range, or an array in a later field, may select several.
  const { index, bounds } = plan;
  return !isMultikey(index) || (bounds.ranges.length === 1 && !index.multikey.includes(true, bounds.points));
}

/** Returns how many of the found documents remain after the skip and the limit of the query. */
function applySkipAndLimit({ skip = 0, limit = 0 }: RowQuery, found: number): number {
  const left = Math.max(0, found - skip);
  return limit === 0 ? left : Math.min(left, limit);
}

function countAll(collection: Collection, reader: Transaction | null): number {
  let found = collection.records.size;
  for (const record of collection.unsettled) {
    found -= visibleVersion(record, reader) === null ? 1 : 0;
  }
  return found;
}

/**
 * Counts the entries within the bounds. Entries of unsettled records are excluded, and their
 * visible versions are counted separately.
 */
function countInIndex(
  collection: Collection,
  reader: Transaction | null,
  { plan: { index, bounds }, stats }: { plan: IndexPlan; stats: ScanStats },
): number {
  let found = 0;
  for (const range of bounds.ranges) {
    found += countEntries(index.entries, range, stats);
  }
  const isInside = (key: string): boolean => bounds.ranges.some(({ from, to }) => key >= from && key < to);
  const keysInside = (version: Version): string[] =>
    version.bytes === null ? [] : getIndexKeys(index, getDocument(version)).filter(isInside);
  for (const record of collection.unsettled) {
    const entries = new Set([...versionsOf(record)].flatMap(keysInside));
    const seen = visibleVersion(record, reader);
    stats.keysExamined += entries.size;
    found += (seen === null ? 0 : keysInside(seen).length) - entries.size;
  }
  return found;
}
