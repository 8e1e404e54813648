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
 * An index of a collection: its specification, properties that are derived from the specification,
 * and the entries.
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
   * For each field, whether some document has an array on its path. Two bounds on such a field
   * cannot be combined, and the index does not provide its sort order.
   */
  readonly multikey: boolean[];
  /** The top-level fields that determine the index keys of a document. Null if they are unknown. */
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

/**
 * Returns the distinct keys of a document. The result is empty if the index does not contain the
 * document.
 */
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

/** Returns the values of one key of a document, for error messages. */
export function getKeyValues(index: Index, doc: Doc, key: string): unknown[] {
  const tuple = getIndexTuples(index, doc).find((candidate) => tupleKey(index, candidate) === key) ?? [];
  return tuple.map((value) => (value === MISSING ? null : value));
}

/** Returns the key string of one field. For a descending field, all its bytes are inverted. */
export function fieldKey(value: unknown, descending: boolean): string {
  return descending ? invertKey(keyString(value)) : keyString(value);
}

/**
 * True if two documents are known to have the same keys, because all fields that determine the keys
 * are identical.
 */
export function sameKeys(index: Index, before: Doc, after: Doc): boolean {
  return index.heads?.every((head) => before[head] === after[head]) ?? false;
}

export function isMultikey(index: Index): boolean {
  return index.multikey.includes(true);
}

/**
 * Returns the values of all keys of a document.
 * @throws MongoError 171 if two fields of the index have different arrays on their paths.
 */
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

/**
 * Returns the top-level fields of a filter. Null if the filter has an operator at the top level.
 */
function headsOf(filter: Doc): string[] | null {
  const paths = keysOf(filter);
  return paths.some((path) => path.startsWith('$')) ? null : paths.map((path) => path.split('.')[0] ?? '');
}

function isTrue(value: unknown): boolean {
  return value === true || (value !== undefined && value !== null && value !== false && Number(value) !== 0);
}
