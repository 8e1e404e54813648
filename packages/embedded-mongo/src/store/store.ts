import { encode } from '../values/encode.js';
import type { Journal } from '../journal/journal.js';
import { createCollection, markSettled, type Collection } from './collection.js';
import { createConflictError, LockedError } from './conflict.js';
import { findRows, type Row, type RowQuery } from './find-rows.js';
import { encodeCatalogChange, encodeCommit, type CatalogChange } from './journal-entry.js';
import type { Majority } from './majority.js';
import { getDocument, type StoredRecord, type Version } from './record.js';
import { createMajorityReader, createTransaction, type Transaction } from './transaction.js';
import { removeKeys, undoWrites } from './write.js';

/** All data of the server, in memory. Every commit is also written to the journal. */
export interface Store {
  /**
   * Collections by namespace. Collections that an open transaction has created are not included.
   */
  readonly collections: Map<string, Collection>;
  /** Collections by namespace that open transactions have created. */
  readonly uncommitted: Map<string, { owner: Transaction; collection: Collection }>;
  readonly journal: Journal;
  /** The number of the newest commit. */
  clock: number;
  lastCollectionId: number;
  /** Explicit transactions and other snapshots in use, oldest first. */
  readonly snapshots: Set<Transaction>;
  /** Snapshots of the data that a majority has, oldest first. */
  readonly majoritySnapshots: Set<Transaction>;
  readonly majority: Majority;
  /** A reader that always sees the newest data that a majority has. */
  readonly majorityReader: Transaction;
  /**
   * Records whose old versions can be removed once every snapshot in use is at or after the
   * timestamp. The records are in ascending order of their timestamps.
   */
  readonly superseded: { timestamp: number; collection: Collection; record: StoredRecord }[];
}

export function createStore(journal: Journal, majority: Majority): Store {
  const store: Store = {
    collections: new Map(),
    uncommitted: new Map(),
    journal,
    clock: 0,
    lastCollectionId: 0,
    snapshots: new Set(),
    majoritySnapshots: new Set(),
    majority,
    majorityReader: createMajorityReader(majority),
    superseded: [],
  };
  majority.onAdvance = () => {
    if (store.superseded.length > 0) {
      dropSuperseded(store);
    }
  };
  return store;
}

/** Begins a snapshot of the majority-committed data. The snapshot exists until it is aborted. */
export function beginMajoritySnapshot(store: Store): Transaction {
  const snapshot = createTransaction(true, Math.min(store.clock, store.majority.point));
  store.majoritySnapshots.add(snapshot);
  return snapshot;
}

/**
 * Begins a transaction. An explicit transaction keeps its snapshot until it is committed or
 * aborted.
 */
export function begin(store: Store, { explicit }: { explicit: boolean }): Transaction {
  const transaction = createTransaction(explicit, store.clock);
  if (explicit) {
    store.snapshots.add(transaction);
  }
  return transaction;
}

/**
 * Publishes all writes of a transaction atomically. Appends the writes and the session outcome to
 * the journal as one entry. The commit must not be acknowledged before `store.journal.durable()`
 * has resolved.
 */
export function commit(store: Store, transaction: Transaction): void {
  store.snapshots.delete(transaction);
  publishCreated(store, transaction);
  const { writes, outcome } = transaction;
  if (writes.size > 0 || outcome !== null) {
    store.clock += 1;
    store.majority.reportCommit(store.clock, writes.values());
    const entries: { collectionId: number; bytes: Buffer; isDelete: boolean }[] = [];
    for (const [record, collection] of writes) {
      const bytes = publish(store, collection, record);
      if (bytes !== null) {
        entries.push(bytes);
      }
    }
    store.journal.append(encodeCommit(entries, outcome));
  }
  end(store, transaction);
}

/** Undoes all writes of a transaction and ends it. */
export function abort(store: Store, transaction: Transaction): void {
  store.snapshots.delete(transaction);
  store.majoritySnapshots.delete(transaction);
  undoWrites(transaction, oldestSnapshot(store));
  for (const { namespace } of transaction.created) {
    store.uncommitted.delete(namespace);
  }
  end(store, transaction);
}

/** Returns the collection with this name, as the reader sees it. */
export function collectionFor(
  store: Store,
  namespace: string,
  reader: Transaction | null,
): Collection | undefined {
  const collection = store.collections.get(namespace);
  if (collection !== undefined || reader === null) {
    return collection;
  }
  const entry = store.uncommitted.get(namespace);
  return entry?.owner === reader ? entry.collection : undefined;
}

/**
 * Returns the documents of a query, as the reader sees them now. The result is empty if the
 * collection does not exist.
 */
export function findRowsByNamespace(
  store: Store,
  namespace: string,
  reader: Transaction | null,
  query: RowQuery,
): Row[] {
  const collection = collectionFor(store, namespace, reader);
  return collection === undefined ? [] : findRows(collection, reader, query);
}

/**
 * Returns the collection with this name and creates it if it does not exist. In an explicit
 * transaction, other clients see the new collection only after the commit.
 */
export function ensureCollection(store: Store, namespace: string, writer: Transaction): Collection {
  const existing = collectionFor(store, namespace, writer);
  if (existing !== undefined) {
    return existing;
  }
  const other = store.uncommitted.get(namespace);
  if (other !== undefined) {
    throw createConflictError(writer, other.owner);
  }
  store.lastCollectionId += 1;
  const collection = createCollection(store.lastCollectionId, namespace);
  if (writer.explicit) {
    store.uncommitted.set(namespace, { owner: writer, collection });
    writer.created.push(collection);
  } else {
    addToCatalog(store, collection);
  }
  return collection;
}

/** Throws LockedError if an open transaction has written to the collection. */
export function assertNoPendingWrites(store: Store, collection: Collection): void {
  for (const transaction of store.snapshots) {
    for (const written of transaction.writes.values()) {
      if (written === collection) {
        throw new LockedError(transaction);
      }
    }
  }
}

/** Writes a catalog change to the journal. The caller must already have applied it in memory. */
export function appendCatalogChange(store: Store, change: CatalogChange): void {
  store.clock += 1;
  store.majority.reportCommit(store.clock, []);
  store.journal.append(encodeCatalogChange(change));
}

/** Returns the catalog change that creates a collection. */
export function buildCreateChange({ id, namespace, uuid }: Collection): CatalogChange {
  return { type: 'create', id, namespace, uuid: uuid.toString('hex') };
}

/** Removes old versions that no snapshot in use needs any more. */
function dropSuperseded(store: Store): void {
  const oldest = oldestSnapshot(store);
  let done = 0;
  for (const { timestamp, collection, record } of store.superseded) {
    if (timestamp > oldest) {
      break;
    }
    trim(collection, record, oldest);
    done += 1;
  }
  store.superseded.splice(0, done);
}

function publishCreated(store: Store, transaction: Transaction): void {
  for (const collection of transaction.created) {
    store.uncommitted.delete(collection.namespace);
    addToCatalog(store, collection);
    for (const { spec } of collection.indexes.slice(1)) {
      appendCatalogChange(store, { type: 'index', id: collection.id, spec });
    }
  }
}

function addToCatalog(store: Store, collection: Collection): void {
  store.collections.set(collection.namespace, collection);
  appendCatalogChange(store, buildCreateChange(collection));
}

/**
 * Makes the uncommitted version the current one. Returns the write for the journal, or null if no
 * document was changed.
 */
function publish(
  store: Store,
  collection: Collection,
  record: StoredRecord,
): { collectionId: number; bytes: Buffer; isDelete: boolean } | null {
  const version = record.pending;
  const before = record.version;
  if (version === null) {
    throw new Error('a record in a write set has no pending version');
  }
  version.timestamp = store.clock;
  version.previous = before;
  record.version = version;
  record.pending = null;
  record.owner = null;
  if (oldestSnapshot(store) >= store.clock) {
    trim(collection, record, store.clock);
  } else {
    store.superseded.push({ timestamp: store.clock, collection, record });
  }
  if (version.bytes !== null) {
    return { collectionId: collection.id, bytes: version.bytes, isDelete: false };
  }
  return before === null || before.bytes === null
    ? null
    : { collectionId: collection.id, bytes: encode({ _id: getDocument(before)['_id'] }), isDelete: true };
}

function end(store: Store, transaction: Transaction): void {
  transaction.hasEnded = true;
  transaction.writes.clear();
  transaction.created.length = 0;
  transaction.waiters?.wake();
  if (store.superseded.length > 0) {
    dropSuperseded(store);
  }
}

/**
 * Returns the oldest snapshot that is still in use. Both sets are in commit order, so the first
 * snapshot of each is its oldest.
 */
function oldestSnapshot({ snapshots, majoritySnapshots, majority }: Store): number {
  const [first] = snapshots;
  const [firstOfMajority] = majoritySnapshots;
  return Math.min(first?.snapshot ?? Infinity, firstOfMajority?.snapshot ?? Infinity, majority.point);
}

/** Removes the versions of a record that neither the snapshot `oldest` nor a newer one can see. */
function trim(collection: Collection, record: StoredRecord, oldest: number): void {
  let visible: Version | null = record.version;
  while (visible !== null && visible.timestamp > oldest) {
    visible = visible.previous;
  }
  if (visible === null) {
    return;
  }
  let dead = visible.previous;
  visible.previous = null;
  for (; dead !== null; dead = dead.previous) {
    removeKeys(collection, record, dead);
  }
  const isGone = record.version === visible && visible.bytes === null && record.owner === null;
  if (isGone && collection.records.get(record.idKey) === record) {
    collection.records.delete(record.idKey);
  }
  markSettled(collection, record, oldest);
}
