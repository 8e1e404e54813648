import type { Doc } from '../values/types.js';
import type { Collection } from './collection.js';
import type { Reader } from './reader.js';
import type { StoredRecord } from './record.js';

/**
 * A unit of writing. An explicit one is a client's transaction: it reads its snapshot and fails on
 * a lock conflict. An implicit one is a single statement: it runs within one event loop turn, reads
 * committed data, and on a lock conflict its caller waits and runs it again.
 */
export interface Transaction extends Reader {
  readonly writes: Map<StoredRecord, Collection>;
  /** Collections that it creates. Others see them after the commit. */
  readonly created: Collection[];
  /** The session outcome of its commit, written to the journal with the writes. */
  outcome: SessionOutcome | null;
}

/** The state that a session keeps over a restart. */
export interface SessionOutcome {
  /** The 16 bytes of the session id. */
  sessionId: Buffer;
  txnNumber: bigint;
  /**
   * Replies of retryable statements by statement id. Null if the transaction with this number was
   * committed.
   */
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

/** Creates a reader that always sees what a majority has. */
export function createMajorityReader(majority: { readonly point: number }): Transaction {
  const reader = createTransaction(true, 0);
  Object.defineProperty(reader, 'snapshot', { get: () => majority.point });
  return reader;
}
