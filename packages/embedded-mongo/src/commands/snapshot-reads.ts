import { Timestamp } from 'bson';
import { MongoError } from '../errors.js';
import { abort, begin, beginMajoritySnapshot, type Store } from '../store/store.js';
import type { Transaction } from '../store/transaction.js';
import type { ClusterClock } from '../wire/cluster-time.js';

/** The snapshots of earlier reads. Later reads of the same session may read them again. */
export interface SnapshotReads {
  pins: { time: Timestamp; reader: Transaction; expiresAtMs: number }[];
}

const SNAPSHOT_TTL_MS = 300_000;

export function createSnapshotReads(): SnapshotReads {
  return { pins: [] };
}

/**
 * Returns the reader for `readConcern: {level: 'snapshot'}` outside of a transaction, and the time
 * of the snapshot. Without `atClusterTime`, that is the newest time that a majority has reached.
 * The snapshot is kept, so that later reads of the session see the same data.
 *
 * If the majority has not reached `atClusterTime` yet, the caller must wait before it reads.
 */
export function snapshotReader(
  reads: SnapshotReads,
  { store, clock, atClusterTime }: { store: Store; clock: ClusterClock; atClusterTime: unknown },
): { reader: Transaction; time: Timestamp } {
  const newest = clock.at(store.clock);
  const now = store.majority.time ?? newest;
  const time = atClusterTime instanceof Timestamp ? atClusterTime : now;
  const known = reads.pins.find((pin) => pin.time.equals(time));
  if (known !== undefined) {
    known.expiresAtMs = Date.now() + SNAPSHOT_TTL_MS;
    return known;
  }
  if (!time.equals(now) && time.lessThan(newest)) {
    throw new MongoError(
      239,
      `The snapshot at ${time.t}:${time.i} is not available: no read was pinned to it`,
    );
  }
  const reader = time.equals(now) ? beginMajoritySnapshot(store) : begin(store, { explicit: true });
  const pin = { time, reader, expiresAtMs: Date.now() + SNAPSHOT_TTL_MS };
  reads.pins.push(pin);
  return pin;
}

/** Releases snapshots that no command has read recently. */
export function releaseExpiredSnapshots(reads: SnapshotReads, store: Store, nowMs: number): void {
  for (const pin of reads.pins) {
    if (pin.expiresAtMs < nowMs) {
      abort(store, pin.reader);
    }
  }
  reads.pins = reads.pins.filter(({ expiresAtMs }) => expiresAtMs >= nowMs);
}

/** Returns the time of a snapshot read outside of a transaction. The reply contains it. */
export function atClusterTimeOf(
  reads: SnapshotReads,
  reader: Transaction | null,
): { atClusterTime: Timestamp } | undefined {
  const pin = reads.pins.find((candidate) => candidate.reader === reader);
  return pin === undefined ? undefined : { atClusterTime: pin.time };
}
