import { MongoError } from '../errors.js';
import { compileFilter } from '../query/compile-filter.js';
import { getField, keysOf } from '../values/fields.js';
import { isDoc, type Doc } from '../values/types.js';
import { invertKey, keyString } from '../values/key-string.js';
import { keyTuples, MISSING } from '../values/key-tuples.js';
import type { StoredRecord } from './record.js';
import { createSortedList, type SortedList } from './sorted-list.js';

interface IndexField {
  path: string;
  parts: string[];
  descending: boolean;
}

/**
 * An index of a collection: the definition from the client, the properties derived from it, and the
 * entries.
 */
export interface Index {
  readonly spec: Doc;
  readonly name: string;
  readonly fields: readonly IndexField[];
  readonly unique: boolean;
  readonly sparse: boolean;
  readonly partialFilter: Doc | null;
  readonly covers: ((doc: Doc) => boolean) | null;
  readonly expireAfterSeconds: number | null;
  /**
   * True for paths with an array in some document. Their bounds can't be combined and give no
   * order.
   */
  readonly multikey: boolean[];
  /** Top-level fields that determine the keys of a document, or null if unknown. */
  readonly heads: readonly string[] | null;
  entries: SortedList<StoredRecord>;
}

/** Creates an empty index from a validated specification. */
export function createIndex(spec: Doc): Index {
  const key = spec['key'] as Doc;
  const fields = keysOf(key).map((path) => ({
    path,
    parts: path.split('.'),
    descending: Number(key[path]) < 0,
  }));
  const partial = isDoc(spec['partialFilterExpression']) ? spec['partialFilterExpression'] : null;
  const expire = spec['expireAfterSeconds'];
  const partialHeads = partial === null ? [] : headsOf(partial);
  return {
    spec,
    name: String(spec['name']),
    fields,
    unique: isTrue(spec['unique']) || spec['name'] === '_id_',
    sparse: isTrue(spec['sparse']),
    partialFilter: partial,
    covers: partial === null ? null : compileFilter(partial),
    expireAfterSeconds: expire === undefined ? null : Number(expire),
    multikey: fields.map(() => false),
    heads: partialHeads === null ? null : [...fields.map(({ parts }) => parts[0] ?? ''), ...partialHeads],
    entries: createSortedList(),
  };
}

/** The distinct keys of a document. There are none if the index excludes the document. */
export function getIndexKeys(index: Index, doc: Doc): string[] {
  if (index.covers !== null && !index.covers(doc)) {
    return [];
  }
  const only = index.fields.length === 1 ? index.fields[0] : undefined;
  if (only?.parts.length === 1) {
    const value = getField(doc, only.path);
    if (value !== undefined && !Array.isArray(value)) {
      return [fieldKey(value, only.descending)];
    }
  }
  const tuples = getIndexTuples(index, doc);
  const keys = tuples.map((tuple) => tupleKey(index, tuple));
  return keys.length > 1 ? [...new Set(keys)] : keys;
}

/** The values of one key of a document, for error messages. */
export function getKeyValues(index: Index, doc: Doc, key: string): unknown[] {
  const tuple = getIndexTuples(index, doc).find((candidate) => tupleKey(index, candidate) === key) ?? [];
  return tuple.map((value) => (value === MISSING ? null : value));
}

/** The key string of one field's value, inverted byte by byte for a descending field. */
export function fieldKey(value: unknown, descending: boolean): string {
  return descending ? invertKey(keyString(value)) : keyString(value);
}

/**
 * True if both documents certainly have the same keys: all fields that determine them hold
 * identical values.
 */
export function sameKeys(index: Index, before: Doc, after: Doc): boolean {
  return index.heads?.every((head) => before[head] === after[head]) ?? false;
}

export function isMultikey(index: Index): boolean {
  return index.multikey.includes(true);
}

/** Error 171 for a document with two arrays in one index. */
function getIndexTuples(index: Index, doc: Doc): unknown[][] {
  const paths = index.fields.map(({ parts }) => parts);
  const name = (path: number): string => paths[path]?.at(-1) ?? '';
  const tuples = keyTuples(paths, doc, {
    onArray: (path) => {
      index.multikey[path] = true;
    },
    parallelArrays: (later, earlier) =>
      new MongoError(171, `cannot index parallel arrays [${name(later)}] [${name(earlier)}]`),
  });
  return index.sparse ? tuples.filter((tuple) => tuple.some((value) => value !== MISSING)) : tuples;
}

function tupleKey(index: Index, tuple: readonly unknown[]): string {
  let key = '';
  for (const [i, { descending }] of index.fields.entries()) {
    const value = tuple[i];
    key += fieldKey(value === MISSING ? null : value, descending);
  }
  return key;
}

/** Top-level fields of a filter, or null if it has top-level operators. */
function headsOf(filter: Doc): string[] | null {
  const paths = keysOf(filter);
  return paths.some((path) => path.startsWith('$')) ? null : paths.map((path) => path.split('.')[0] ?? '');
}

function isTrue(value: unknown): boolean {
  return value === true || (value !== undefined && value !== null && value !== false && Number(value) !== 0);
}
