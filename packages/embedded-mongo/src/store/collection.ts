import { randomBytes } from 'node:crypto';
import type { Doc } from '../values/types.js';
import { createIndex, getIndexKeys, type Index } from './index-definition.js';
import { getDocument, type StoredRecord, type Version } from './record.js';
import { getRecords, sortedListOf } from './sorted-list.js';
import { duplicateKey } from './duplicate-key.js';
import type { Reader } from './reader.js';

export interface Collection {
  /** Its number in the journal. */
  readonly id: number;
  /** `<database>.<name>`. */
  namespace: string;
  readonly uuid: Buffer;
  /** By key string of `_id`, in order of insertion. */
  readonly records: Map<string, StoredRecord>;
  /**
   * Records that readers may see differently: those with several versions, or with one that is
   * newer than a snapshot in use.
   */
  readonly unsettled: Set<StoredRecord>;
  /** The first is always the one on `_id`. */
  indexes: [Index, ...Index[]];
}

export const ID_INDEX_SPEC: Doc = { v: 2, key: { _id: 1 }, name: '_id_' };

export function createCollection(id: number, namespace: string, uuid = randomUuid()): Collection {
  return {
    id,
    namespace,
    uuid,
    records: new Map(),
    unsettled: new Set(),
    indexes: [createIndex(ID_INDEX_SPEC)],
  };
}

export function databaseOf(namespace: string): string {
  return namespace.slice(0, namespace.indexOf('.'));
}

export function getCollectionName(namespace: string): string {
  return namespace.slice(namespace.indexOf('.') + 1);
}

/**
 * The version of a record that a reader sees: its own write, or the newest in its snapshot. Null if
 * there is none.
 */
export function visibleVersion(record: StoredRecord, reader: Reader | null): Version | null {
  if (reader !== null && record.owner === reader) {
    return liveOrNull(record.pending);
  }
  let version = record.version;
  if (reader?.explicit === true) {
    while (version !== null && version.timestamp > reader.snapshot) {
      version = version.previous;
    }
  }
  return liveOrNull(version);
}

function liveOrNull(version: Version | null): Version | null {
  return version === null || version.bytes === null ? null : version;
}

/**
 * Removes a record from `unsettled` when it is gone, or has one version that every reader sees.
 * `oldest` is the oldest snapshot in use. The index entries of a settled record are exactly those
 * of its version, so entries can be counted as documents.
 */
export function markSettled(collection: Collection, record: StoredRecord, oldest: number): void {
  const { version, owner } = record;
  const isSettled = owner === null && version?.previous === null && version.timestamp <= oldest;
  if (isSettled || collection.records.get(record.idKey) !== record) {
    collection.unsettled.delete(record);
  }
}

/** All versions of a record that a reader sees or may see later. */
export function* versionsOf(record: StoredRecord): Generator<Version> {
  if (record.pending !== null) {
    yield record.pending;
  }
  for (let version = record.version; version !== null; version = version.previous) {
    yield version;
  }
}

/**
 * Builds an index over the stored documents. With `unique`, two documents with one key throw 11000.
 * A pending write counts too, since it was made before the index could check it.
 */
export function buildIndex(collection: Collection, spec: Doc): Index {
  const index = createIndex(spec);
  const entries: { key: string; record: StoredRecord }[] = [];
  for (const record of collection.records.values()) {
    const seen = new Set<string>();
    for (const version of versionsOf(record)) {
      if (version.bytes === null) {
        continue;
      }
      for (const key of getIndexKeys(index, getDocument(version))) {
        if (!seen.has(key)) {
          seen.add(key);
          entries.push({ key, record });
        }
      }
    }
  }
  entries.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.record.number - b.record.number));
  index.entries = sortedListOf(entries);
  if (index.unique) {
    refuseDuplicates(collection, index, entries);
  }
  return index;
}

function refuseDuplicates(
  collection: Collection,
  index: Index,
  entries: readonly { key: string; record: StoredRecord }[],
): void {
  const hasNow = ({ key, record }: { key: string; record: StoredRecord }): Doc | undefined => {
    const current = liveOrNull(record.pending ?? record.version);
    const doc = current === null ? undefined : getDocument(current);
    return doc !== undefined && getIndexKeys(index, doc).includes(key) ? doc : undefined;
  };
  entries.forEach((entry, i) => {
    if (entries[i + 1]?.key !== entry.key) {
      return;
    }
    const holders = getRecords(index.entries, entry.key)
      .map((record) => hasNow({ key: entry.key, record }))
      .filter((doc) => doc !== undefined);
    const [first, second] = holders;
    if (first !== undefined && second !== undefined) {
      throw duplicateKey(collection.namespace, index, second, entry.key);
    }
  });
}

function randomUuid(): Buffer {
  const bytes = randomBytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes;
}
