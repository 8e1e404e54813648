import { writeSnapshot } from '../journal/snapshot-writer.js';
import { visibleVersion, type Collection } from './collection.js';
import { encodeCatalogChange, encodeCommit } from './journal-entry.js';
import { abort, begin, buildCreateChange, type Store } from './store.js';
import type { SessionOutcome, Transaction } from './transaction.js';

const ENTRY_BYTES = 256 << 10;

/**
 * Writes the current state into a snapshot and then deletes the older journals. Reads and writes
 * continue meanwhile: the snapshot reads one point in time, and later commits are written to a new
 * journal.
 */
export async function compact(
  store: Store,
  {
    directory,
    sync,
    outcomes,
  }: { directory: string; sync: boolean; outcomes: () => Iterable<SessionOutcome> },
): Promise<void> {
  // There must be no await in this block. The start of the new journal, the time of the snapshot,
  // the catalog and the sessions must belong to the same point in time.
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
    encodeCatalogChange(buildCreateChange(collection)),
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
