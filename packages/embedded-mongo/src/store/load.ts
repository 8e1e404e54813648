import { decode } from '../values/decode.js';
import { keyString } from '../values/key-string.js';
import type { Doc } from '../values/types.js';
import { buildIndex, createCollection, ID_INDEX_SPEC, type Collection } from './collection.js';
import { decodeEntry, type CatalogChange, type JournalWrite } from './journal-entry.js';
import { createRecord, createVersion } from './record.js';
import type { Store } from './store.js';
import type { SessionOutcome } from './transaction.js';

/**
 * The state that is read from the journal. It has no indexes yet, because building each one at the
 * end is much faster than updating it with every entry.
 */
export interface LoadState {
  collections: Map<number, { collection: Collection; indexes: Doc[] }>;
  clock: number;
  onOutcome: (outcome: SessionOutcome) => void;
}

export function createLoadState(onOutcome: (outcome: SessionOutcome) => void): LoadState {
  return { collections: new Map(), clock: 0, onOutcome };
}

/** Applies one journal entry. */
export function applyEntry(loading: LoadState, bytes: Buffer): void {
  const entry = decodeEntry(bytes);
  loading.clock += 1;
  if (entry.kind === 'catalog') {
    applyChange(loading, entry.change);
    return;
  }
  for (const write of entry.writes) {
    applyWrite(loading, write);
  }
  if (entry.outcome !== null) {
    loading.onOutcome(entry.outcome);
  }
}

/** Moves the loaded data into the store and builds all indexes. */
export function finishLoading(store: Store, loading: LoadState): void {
  store.clock = loading.clock;
  for (const [id, { collection, indexes }] of loading.collections) {
    store.lastCollectionId = Math.max(store.lastCollectionId, id);
    const [idIndex, ...rest] = [ID_INDEX_SPEC, ...indexes].map((spec) => buildIndex(collection, spec));
    if (idIndex !== undefined) {
      collection.indexes = [idIndex, ...rest];
    }
    store.collections.set(collection.namespace, collection);
  }
}

function applyChange(loading: LoadState, change: CatalogChange): void {
  if (change.type === 'create') {
    const uuid = Buffer.from(change.uuid, 'hex');
    const collection = createCollection(change.id, change.namespace, uuid);
    loading.collections.set(change.id, { collection, indexes: [] });
    return;
  }
  const entry = loading.collections.get(change.id);
  if (entry === undefined) {
    // The collection was dropped by an earlier entry, so this change has no effect.
    return;
  }
  switch (change.type) {
    case 'drop':
      loading.collections.delete(change.id);
      return;
    case 'rename':
      entry.collection.namespace = change.namespace;
      return;
    case 'index':
      entry.indexes = [...entry.indexes.filter(({ name }) => name !== change.spec['name']), change.spec];
      return;
    case 'dropIndex':
      entry.indexes = entry.indexes.filter(({ name }) => name !== change.name);
      return;
  }
}

function applyWrite(loading: LoadState, { collectionId, put, deletedId }: JournalWrite): void {
  const records = loading.collections.get(collectionId)?.collection.records;
  if (records === undefined) {
    return;
  }
  if (put === null) {
    records.delete(keyString(deletedId));
    return;
  }
  // Copy the bytes. A view would keep the whole journal block in memory as long as one of its
  // documents exists.
  const bytes = Buffer.from(put);
  const idKey = keyString(idOf(bytes));
  const record = records.get(idKey) ?? createRecord(idKey);
  record.version = createVersion(bytes);
  record.version.timestamp = loading.clock;
  records.set(idKey, record);
}

const OBJECT_ID = 7;
const ID_FIELD = Buffer.from('_id\0', 'latin1');

/**
 * Returns the `_id` of a stored document. It is always the first field, so the other fields need
 * not be decoded.
 */
function idOf(bytes: Buffer): unknown {
  if (bytes[4] === OBJECT_ID && bytes.compare(ID_FIELD, 0, 4, 5, 9) === 0) {
    const alone = Buffer.allocUnsafe(22);
    alone.writeInt32LE(22, 0);
    bytes.copy(alone, 4, 4, 21);
    alone[21] = 0;
    return decode(alone)['_id'];
  }
  return decode(bytes)['_id'];
}
