import { keyString } from '../values/key-string.js';
import type { Doc } from '../values/types.js';
import { markSettled, versionsOf, visibleVersion, type Collection } from './collection.js';
import { createConflictError } from './conflict.js';
import { createDuplicateKeyError } from './duplicate-key.js';
import { getIndexKeys, sameKeys, type Index } from './index-definition.js';
import {
  createRecord,
  createVersion,
  getDocument,
  cacheDocument,
  type StoredRecord,
  type Version,
} from './record.js';
import { addEntry, getRecords, removeEntry } from './sorted-list.js';
import type { Transaction } from './transaction.js';

/**
 * The writes of a transaction. Each function completes all checks before it changes anything, so a
 * failed write has no effect. The functions throw MongoError 11000 for a duplicate key and
 * MongoError 112 for a conflict inside a transaction. For a conflict outside of a transaction they
 * throw LockedError.
 */

/** Inserts a document. `bytes` is its encoding and is stored unchanged. */
export function insertDocument(
  transaction: Transaction,
  collection: Collection,
  doc: Doc,
  bytes: Buffer,
): void {
  const idKey = keyString(doc['_id']);
  const existing = collection.records.get(idKey);
  if (existing !== undefined) {
    refuseExisting(transaction, collection, existing, { doc, idKey });
  }
  const record = existing ?? createRecord(idKey);
  // The decoded document is not cached, because a new document is rarely read soon.
  writeVersion(transaction, collection, record, { version: createVersion(bytes), doc });
  collection.records.set(idKey, record);
}

/** Replaces the document of a record. */
export function replaceDocument(
  transaction: Transaction,
  collection: Collection,
  record: StoredRecord,
  { doc, bytes }: { doc: Doc; bytes: Buffer },
): void {
  refuseLocked(transaction, record);
  const version = createVersion(bytes);
  cacheDocument(version, doc);
  writeVersion(transaction, collection, record, { version, doc });
}

/** Deletes the document of a record. */
export function deleteDocument(transaction: Transaction, collection: Collection, record: StoredRecord): void {
  refuseLocked(transaction, record);
  writeVersion(transaction, collection, record, { version: createVersion(null), doc: null });
}

/**
 * Undoes all writes of a transaction.
 * @param oldest The oldest snapshot that is in use after the end of the transaction.
 */
export function undoWrites(transaction: Transaction, oldest: number): void {
  for (const [record, collection] of transaction.writes) {
    const dead = record.pending;
    record.pending = null;
    record.owner = null;
    if (dead !== null) {
      removeKeys(collection, record, dead);
    }
    // The record has no version, or only a deletion, so no reader can see it.
    const isGone =
      record.version === null || (record.version.bytes === null && record.version.previous === null);
    if (isGone && collection.records.get(record.idKey) === record) {
      collection.records.delete(record.idKey);
    }
    markSettled(collection, record, oldest);
  }
  transaction.writes.clear();
}

/**
 * Removes the index entries of a version that no reader can see. Entries that another version of
 * the record also needs are kept.
 */
export function removeKeys(collection: Collection, record: StoredRecord, dead: Version): void {
  if (dead.bytes === null) {
    return;
  }
  const only = record.pending === null && record.version?.previous === null ? record.version : null;
  for (const index of collection.indexes) {
    const doc = getDocument(dead);
    if (only !== null && only.bytes !== null && sameKeys(index, doc, getDocument(only))) {
      continue;
    }
    for (const key of getIndexKeys(index, doc)) {
      if (!hasKey(index, record, key)) {
        removeEntry(index.entries, key, record);
      }
    }
  }
}

function hasKey(index: Index, record: StoredRecord, key: string): boolean {
  for (const version of versionsOf(record)) {
    if (version.bytes !== null && getIndexKeys(index, getDocument(version)).includes(key)) {
      return true;
    }
  }
  return false;
}

function refuseLocked(transaction: Transaction, record: StoredRecord): void {
  if (record.owner !== null && record.owner !== transaction) {
    throw createConflictError(transaction, record.owner);
  }
  if (transaction.explicit && record.version !== null && record.version.timestamp > transaction.snapshot) {
    throw createConflictError(transaction, null);
  }
}

/**
 * Throws if the `_id` of a new document already exists. If the transaction sees the existing
 * document, the error is a duplicate key. If another transaction has written the existing document
 * and this one does not see it, the error is a conflict.
 */
function refuseExisting(
  transaction: Transaction,
  collection: Collection,
  existing: StoredRecord,
  { doc, idKey }: { doc: Doc; idKey: string },
): void {
  if (visibleVersion(existing, transaction) !== null) {
    throw createDuplicateKeyError(collection.namespace, collection.indexes[0], doc, idKey);
  }
  refuseLocked(transaction, existing);
}

function writeVersion(
  transaction: Transaction,
  collection: Collection,
  record: StoredRecord,
  { version, doc }: { version: Version; doc: Doc | null },
): void {
  const isMine = record.owner === transaction;
  const before = isMine ? record.pending : record.version;
  const added: { index: Index; keys: string[] }[] = [];
  if (doc !== null) {
    const beforeDoc = before === null || before.bytes === null ? null : getDocument(before);
    for (const index of collection.indexes) {
      if (beforeDoc !== null && sameKeys(index, beforeDoc, doc)) {
        continue;
      }
      const keys = getIndexKeys(index, doc);
      if (index.unique && index !== collection.indexes[0]) {
        const held = beforeDoc === null ? [] : getIndexKeys(index, beforeDoc);
        for (const key of keys) {
          if (!held.includes(key)) {
            refuseDuplicate(transaction, collection, { index, record, doc, key });
          }
        }
      }
      added.push({ index, keys });
    }
  }
  record.pending = version;
  if (isMine) {
    if (before !== null) {
      removeKeys(collection, record, before);
    }
  } else {
    record.owner = transaction;
    transaction.writes.set(record, collection);
    collection.unsettled.add(record);
  }
  for (const { index, keys } of added) {
    for (const key of keys) {
      addEntry(index.entries, key, record);
    }
  }
}

/**
 * Throws if another document has the same key in a unique index. As in MongoDB, the error is a
 * conflict if the transaction does not see the write that took the key, even if a later write has
 * released the key. Otherwise the error is a duplicate key if a visible document has the key.
 */
function refuseDuplicate(
  transaction: Transaction,
  collection: Collection,
  { index, record, doc, key }: { index: Index; record: StoredRecord; doc: Doc; key: string },
): void {
  const others = getRecords(index.entries, key).filter((other) => other !== record);
  for (const other of others) {
    if (other.owner !== transaction) {
      if (
        other.owner !== null &&
        versionHasKey(index, other.pending, key) &&
        !versionHasKey(index, other.version, key)
      ) {
        throw createConflictError(transaction, other.owner);
      }
      if (transaction.explicit && wasTakenSince(index, other, transaction.snapshot, key)) {
        throw createConflictError(transaction, null);
      }
    }
  }
  if (others.some((other) => versionHasKey(index, visibleVersion(other, transaction), key))) {
    throw createDuplicateKeyError(collection.namespace, index, doc, key);
  }
}

function versionHasKey(index: Index, version: Version | null, key: string): boolean {
  return (
    version !== null && version.bytes !== null && getIndexKeys(index, getDocument(version)).includes(key)
  );
}

/**
 * True if a commit after the snapshot has taken the key, even if a later commit has released it.
 */
function wasTakenSince(index: Index, record: StoredRecord, snapshot: number, key: string): boolean {
  for (
    let { version } = record;
    version !== null && version.timestamp > snapshot;
    version = version.previous
  ) {
    if (versionHasKey(index, version, key) && !versionHasKey(index, version.previous, key)) {
      return true;
    }
  }
  return false;
}
