import { writeSnapshot } from '../journal/snapshot-writer.js';
import { visibleVersion, type Collection } from './collection.js';
import { encodeCatalogChange, encodeCommit } from './journal-entry.js';
import { abort, begin, creationOf, type Store } from './store.js';
import type { SessionOutcome, Transaction } from './transaction.js';

const ENTRY_BYTES = 256 << 10;

/**
 * Writes everything as of now into a snapshot, after which the journals before it are deleted. Reading and writing go on
 * meanwhile: the snapshot reads one moment of the store, and what is committed later goes to a new journal.
 */
export async function compact(
  store: Store,
  {
    directory,
    sync,
    outcomes,
  }: { directory: string; sync: boolean; outcomes: () => Iterable<SessionOutcome> },
): Promise<void> {
  // One turn of the event loop: the cut of the journal, the snapshot's moment, the catalog and the sessions agree.
  const reader = begin(store, { explicit: true });
  const rotation = store.journal.rotate();
  const collections = [...store.collections.values()];
  const head = [
    ...[...outcomes()].map((outcome) => encodeCommit([], outcome)),
    ...collections.flatMap((collection) => catalogEntries(collection)),
  ];
  try {
    const generation = await rotation;
    const entries = (function* (): Generator<Buffer> {
      yield* head;
      for (const collection of collections) {
        yield* documentEntries(collection, reader);
      }
    })();
    store.journal.stats.snapshotBytes = await writeSnapshot({ directory, generation, sync }, entries);
  } finally {
    abort(store, reader);
  }
}

function catalogEntries(collection: Collection): Buffer[] {
  return [
    encodeCatalogChange(creationOf(collection)),
    ...collection.indexes
      .slice(1)
      .map(({ spec }) => encodeCatalogChange({ type: 'index', id: collection.id, spec })),
  ];
}

function* documentEntries(collection: Collection, reader: Transaction): Generator<Buffer> {
  let batch: { collectionId: number; bytes: Buffer; isDelete: boolean }[] = [];
  let size = 0;
  for (const record of collection.records.values()) {
    const bytes = visibleVersion(record, reader)?.bytes ?? null;
    if (bytes === null) {
      continue;
    }
    batch.push({ collectionId: collection.id, bytes, isDelete: false });
    size += bytes.length;
    if (size >= ENTRY_BYTES) {
      yield encodeCommit(batch, null);
      batch = [];
      size = 0;
    }
  }
  if (batch.length > 0) {
    yield encodeCommit(batch, null);
  }
}
