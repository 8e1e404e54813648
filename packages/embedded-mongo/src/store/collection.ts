import { randomBytes } from 'node:crypto';
import type { Doc } from '../values/types.js';
import { createIndex, getIndexKeys, type Index } from './index-definition.js';
import { getDocument, type StoredRecord, type Version } from './record.js';
import { getRecords, sortedListOf } from './sorted-list.js';
import { createDuplicateKeyError } from './duplicate-key.js';
import type { Reader } from './reader.js';

export interface Collection {
  /** The number that identifies the collection in the journal. */
  readonly id: number;
  /** The name in the form `<database>.<collection>`. */
  namespace: string;
  readonly uuid: Buffer;
  /** The records by the key string of their `_id`, in insertion order. */
  readonly records: Map<string, StoredRecord>;
  /**
   * Records that two readers may see differently. Such a record has several versions, or its only
   * version is newer than a snapshot in use.
   */
  readonly unsettled: Set<StoredRecord>;
  /** The first index is always the one on `_id`. */
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
 * Returns the version of a record that a reader sees: the reader's own write, or else the newest
 * version in its snapshot. Null if the reader sees no document.
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
 * Removes a record from `unsettled` if it was deleted, or if it has only one version and every
 * reader sees it. Each index entry of a settled record then belongs to that version, so counting
 * entries counts documents.
 * @param oldest The oldest snapshot in use.
 */
export function markSettled(collection: Collection, record: StoredRecord, oldest: number): void {
  const { version, owner } = record;
  const isSettled = owner === null && version?.previous === null && version.timestamp <= oldest;
  if (isSettled || collection.records.get(record.idKey) !== record) {
    collection.unsettled.delete(record);
  }
}

/** Yields all versions of a record that some reader sees, or may see later. */
export function* versionsOf(record: StoredRecord): Generator<Version> {
  if (record.pending !== null) {
    yield record.pending;
  }
  for (let version = record.version; version !== null; version = version.previous) {
    yield version;
  }
}

/**
 * Builds an index over the stored documents. Pending writes are included, because they were made
 * before this index could check them.
 * @throws MongoError 11000 if the index is unique and two documents have the same key.
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
      throw createDuplicateKeyError(collection.namespace, index, second, entry.key);
    }
  });
}

function randomUuid(): Buffer {
  const bytes = randomBytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes;
}
