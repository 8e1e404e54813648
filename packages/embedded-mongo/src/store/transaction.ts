import type { Doc } from '../values/types.js';
import type { Collection } from './collection.js';
import type { Reader } from './reader.js';
import type { StoredRecord } from './record.js';

/**
 * A transaction that writes. An explicit transaction was begun by a client: it reads its snapshot
 * and fails on a lock conflict. An implicit transaction is a single statement: it runs without
 * interruption and reads committed data. On a lock conflict, its caller waits and runs the
 * statement again.
 */
export interface Transaction extends Reader {
  readonly writes: Map<StoredRecord, Collection>;
  /** Collections that the transaction has created. Other clients see them after the commit. */
  readonly created: Collection[];
  /**
   * The state of the session after the commit. It is written to the journal together with the
   * writes.
   */
  outcome: SessionOutcome | null;
}

/** The state of a session that must survive a restart. */
export interface SessionOutcome {
  /** The 16 bytes of the session id. */
  sessionId: Buffer;
  txnNumber: bigint;
  /**
   * The replies of retryable statements by statement id. Null if the number belongs to a
   * transaction, which was committed.
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

/** Creates a reader that always sees the newest data that a majority has. */
export function createMajorityReader(majority: { readonly point: number }): Transaction {
  const reader = createTransaction(true, 0);
  Object.defineProperty(reader, 'snapshot', { get: () => majority.point });
  return reader;
}
