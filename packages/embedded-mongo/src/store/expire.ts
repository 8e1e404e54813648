import { typePrefix } from '../values/key-string.js';
import { type Collection, visibleVersion } from './collection.js';
import { fieldKey, getIndexKeys, type Index } from './index-definition.js';
import { getDocument, type StoredRecord } from './record.js';
import { iterateAscending } from './sorted-list.js';
import { abort, begin, commit, type Store } from './store.js';
import { deleteDocument } from './write.js';

const BATCH_MAX = 1000;

/**
 * Deletes the documents whose date in a TTL index is older than `expireAfterSeconds`. In an array,
 * the oldest date decides. Documents that a transaction has locked stay until the next run.
 * @returns the number of deleted documents.
 */
export function expireDocuments(store: Store, nowMs: number): number {
  let deleted = 0;
  for (const collection of store.collections.values()) {
    for (const index of collection.indexes) {
      if (index.expireAfterSeconds !== null && index.fields.length === 1) {
        deleted += expireThrough(store, collection, index, new Date(nowMs - index.expireAfterSeconds * 1000));
      }
    }
  }
  return deleted;
}

function expireThrough(store: Store, collection: Collection, index: Index, cutoff: Date): number {
  const expired = expiredRecords(index, cutoff);
  if (expired.length === 0) {
    return 0;
  }
  const transaction = begin(store, { explicit: false });
  try {
    for (const record of expired) {
      deleteDocument(transaction, collection, record);
    }
  } catch (error) {
    abort(store, transaction);
    throw error;
  }
  commit(store, transaction);
  return expired.length;
}

function expiredRecords(index: Index, cutoff: Date): StoredRecord[] {
  const descending = index.fields[0]?.descending ?? false;
  const prefix = typePrefix(cutoff);
  const limit = fieldKey(cutoff, descending);
  const invertedEnd = fieldKey(new Date(-8.64e15), true);
  const [from, to] = descending ? [limit, `${invertedEnd}\u0100`] : [prefix, `${limit}\u0100`];
  const found = new Set<StoredRecord>();
  for (const [key, record] of iterateAscending(index.entries, from, to)) {
    const version = record.owner === null ? visibleVersion(record, null) : null;
    if (version !== null && getIndexKeys(index, getDocument(version)).includes(key)) {
      found.add(record);
    }
    if (found.size >= BATCH_MAX) {
      break;
    }
  }
  return [...found];
}
