import { compileSort } from '../aggregation/sort-pattern.js';
import { keyString } from '../values/key-string.js';
import { keysOf } from '../values/fields.js';
import { BSON, typeOf, type Doc } from '../values/types.js';
import { visibleVersion, type Collection } from './collection.js';
import { getIndexKeys, isMultikey, type Index } from './index-definition.js';
import { boundsMatchFilterExactly, planQuery, type IndexPlan, type Plan } from './plan.js';
import { getDocument, type StoredRecord, type Version } from './record.js';
import { iterateAscending, iterateDescending } from './sorted-list.js';
import type { Transaction } from './transaction.js';

export interface RowQuery {
  filter: Doc;
  /** The compiled filter. */
  matches: (doc: Doc) => boolean;
  sort?: Doc | undefined;
  skip?: number | undefined;
  /** Zero means no limit. */
  limit?: number | undefined;
  hint?: unknown;
}

/** A document that a query has found: its record, and the version that the reader sees. */
export interface Row {
  record: StoredRecord;
  version: Version;
}

export interface ScanStats {
  keysExamined: number;
  docsExamined: number;
}

/** Returns the documents of a query in the order of its sort, as the reader sees them now. */
export function findRows(collection: Collection, reader: Transaction | null, query: RowQuery): Row[] {
  const idKey = getIdLookupKey(query);
  if (idKey !== undefined) {
    return findById(collection, reader, query, idKey);
  }
  const plan = planQuery(collection, { filter: query.filter, sort: query.sort, hint: query.hint });
  return executePlan(collection, reader, { plan, query, stats: { keysExamined: 0, docsExamined: 0 } });
}

/** The documents of a query, read lazily. */
export interface LiveRows {
  /** Yields null between two rows when other commands may run. */
  rows: Iterable<Row | null>;
  /** The indexes that the query reads. */
  indexes: readonly Index[];
}

/**
 * Yields the documents of a query in the order of its sort. There is no snapshot: each document is
 * read in its current state. The position in the index or collection is kept between reads. A sort
 * in memory reads all documents before it yields the first one.
 */
export function iterateRows(collection: Collection, reader: Transaction | null, query: RowQuery): LiveRows {
  const idKey = getIdLookupKey(query);
  if (idKey !== undefined) {
    return { rows: findById(collection, reader, query, idKey), indexes: [] };
  }
  const plan = planQuery(collection, { filter: query.filter, sort: query.sort, hint: query.hint });
  const stats = { keysExamined: 0, docsExamined: 0 };
  return { rows: executeInSlices(collection, reader, { plan, query, stats }), indexes: indexesOf(plan) };
}

function indexesOf(plan: Plan): Index[] {
  switch (plan.kind) {
    case 'scan':
      return [];
    case 'index':
      return [plan.index];
    case 'union':
      return plan.branches.map(({ index }) => index);
  }
}

/** The number of documents that are examined before other commands may run. */
const SLICE_DOCUMENTS = 128;

interface Execution {
  plan: Plan;
  query: RowQuery;
  stats: ScanStats;
}

/** Runs a plan without interruption. Adds the numbers of examined keys and documents to `stats`. */
export function executePlan(collection: Collection, reader: Transaction | null, execution: Execution): Row[] {
  const rows: Row[] = [];
  for (const row of executeInSlices(collection, reader, execution)) {
    if (row !== null) {
      rows.push(row);
    }
  }
  return rows;
}

function* executeInSlices(
  collection: Collection,
  reader: Transaction | null,
  { plan, query, stats }: Execution,
): Generator<Row | null, void> {
  const { matches, sort, skip = 0, limit = 0 } = query;
  const end = limit === 0 ? Infinity : skip + limit;
  const unsorted: Row[] | null = sort !== undefined && needsInMemorySort(plan, sort) ? [] : null;
  // If the index bounds contain exactly the matching documents, no document needs to be decoded and
  // tested.
  const isSure = plan.kind === 'index' && boundsMatchFilterExactly(plan, query.filter);
  let examined = 0;
  let found = 0;
  for (const row of rowsOf(collection, reader, plan, stats)) {
    stats.docsExamined += 1;
    examined += 1;
    if (isSure || matches(getDocument(row.version))) {
      found += 1;
      if (unsorted !== null) {
        unsorted.push(row);
      } else if (found > skip) {
        yield row;
      }
      if (unsorted === null && found >= end) {
        return;
      }
    }
    if (examined % SLICE_DOCUMENTS === 0) {
      yield null;
    }
  }
  if (unsorted !== null && sort !== undefined) {
    yield* sortRows(unsorted, sort).slice(skip, end);
  }
}

/** True if the plan does not return the documents in the order of the sort. */
export function needsInMemorySort(plan: Plan, sort: Doc | undefined): boolean {
  if (sort === undefined || keysOf(sort).length === 0 || sort['$natural'] !== undefined) {
    return false;
  }
  return plan.kind !== 'index' || !plan.sorted;
}

/**
 * Returns the key string of the `_id` in the filter if a lookup by `_id` finds every matching
 * document. Otherwise undefined.
 */
export function getIdLookupKey({ filter, hint, skip = 0 }: RowQuery): string | undefined {
  const id = filter['_id'];
  if (id === undefined || id === null || (hint !== undefined && hint !== null) || skip > 0) {
    return undefined;
  }
  const type = typeOf(id);
  const isLookup = type !== BSON.object && type !== BSON.array && type !== BSON.regex;
  return isLookup ? keyString(id) : undefined;
}

function findById(
  collection: Collection,
  reader: Transaction | null,
  { filter, matches }: RowQuery,
  idKey: string,
): Row[] {
  const record = collection.records.get(idKey);
  const version = record === undefined ? null : visibleVersion(record, reader);
  if (record === undefined || version === null) {
    return [];
  }
  return keysOf(filter).length === 1 || matches(getDocument(version)) ? [{ record, version }] : [];
}

function* rowsOf(
  collection: Collection,
  reader: Transaction | null,
  plan: Plan,
  stats: ScanStats,
): Generator<Row, void> {
  switch (plan.kind) {
    case 'scan': {
      const records = plan.backward
        ? [...collection.records.values()].reverse()
        : collection.records.values();
      for (const record of records) {
        const version = visibleVersion(record, reader);
        if (version !== null) {
          yield { record, version };
        }
      }
      return;
    }
    case 'index':
      yield* indexRows(reader, plan, stats);
      return;
    case 'union': {
      const seen = new Set<StoredRecord>();
      for (const branch of plan.branches) {
        for (const row of indexRows(reader, branch, stats)) {
          if (!seen.has(row.record)) {
            seen.add(row.record);
            yield row;
          }
        }
      }
    }
  }
}

function* indexRows(reader: Transaction | null, plan: IndexPlan, stats: ScanStats): Generator<Row, void> {
  const { index, bounds, backward } = plan;
  const seen = isMultikey(index) ? new Set<StoredRecord>() : undefined;
  const ranges = backward ? [...bounds.ranges].reverse() : bounds.ranges;
  for (const { from, to } of ranges) {
    for (const [key, record] of (backward ? iterateDescending : iterateAscending)(index.entries, from, to)) {
      stats.keysExamined += 1;
      const version = visibleVersion(record, reader);
      if (version === null || seen?.has(record) === true) {
        continue;
      }
      // The index entry may belong to a version that this reader does not see.
      const isOnlyVersion = record.pending === null && record.version?.previous === null;
      if (!isOnlyVersion && !getIndexKeys(index, getDocument(version)).includes(key)) {
        continue;
      }
      seen?.add(record);
      yield { record, version };
    }
  }
}

function sortRows(rows: readonly Row[], sort: Doc): Row[] {
  const { keyOf, compare } = compileSort(sort);
  return rows
    .map((row) => ({ row, key: keyOf(getDocument(row.version)) }))
    .sort((a, b) => compare(a.key, b.key))
    .map(({ row }) => row);
}
