import type { Doc } from '../values/types.js';
import type { Collection } from './collection.js';
import type { Reader } from './reader.js';
import type { StoredRecord } from './record.js';

/**
 * A unit of writing. An explicit one is a client's transaction: it reads its snapshot and fails where it meets another's
 * lock. An implicit one is a single statement: it runs within one turn of the event loop, reads what is committed, and
 * has to wait (outside of itself) where it meets a lock.
 */
export interface Transaction extends Reader {
  readonly writes: Map<StoredRecord, Collection>;
  /** Collections that it creates; nobody else sees them before the commit. */
  readonly created: Collection[];
  /** What its commit settles for a session; written to the journal together with the writes. */
  outcome: SessionOutcome | null;
}

/** What a session must remember after a restart. */
export interface SessionOutcome {
  /** The 16 bytes of the session id. */
  sessionId: Buffer;
  txnNumber: bigint;
  /** Replies of retryable statements by statement id; null if the transaction of this number was committed. */
  statements: Map<number, Doc> | null;
}

export function createTransaction(explicit: boolean, snapshot: number): Transaction {
  return {
    explicit,
    snapshot,
    writes: new Map(),
    created: [],
    outcome: null,
    hasEnded: false,
    waiters: null,
  };
}

/** Reads, at each moment, what a majority has by then. */
export function createMajorityReader(majority: { readonly point: number }): Transaction {
  const reader = createTransaction(true, 0);
  Object.defineProperty(reader, 'snapshot', { get: () => majority.point });
  return reader;
}
