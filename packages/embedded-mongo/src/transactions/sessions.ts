import { Binary, Long } from 'bson';
import { MongoError } from '../errors.js';
import { isDoc, type Doc } from '../values/types.js';
import { abort, begin, type Store } from '../store/store.js';
import type { SessionOutcome, Transaction } from '../store/transaction.js';

/**
 * A logical session of a client. It holds the newest transaction or retryable write, and the
 * replies that are remembered for retries.
 */
export interface Session {
  /** The 16 bytes of the session id as a latin1 string. */
  readonly key: string;
  readonly id: Buffer;
  /** The highest transaction number that the client has used. -1 if it has not used any. */
  txnNumber: bigint;
  state: 'none' | 'retryable' | 'inProgress' | 'committed' | 'aborted';
  transaction: Transaction | null;
  /** The replies of the newest retryable write, by statement id. */
  statements: Map<number, Doc>;
  transactionStartedAtMs: number;
  lastUsedAtMs: number;
  /** The connection that last sent a command of the open transaction. */
  connectionId: number;
  /**
   * The time at which the transaction is aborted because its connection was closed. Infinity while
   * the connection is open.
   */
  orphanedAtMs: number;
}

export interface Sessions {
  readonly byKey: Map<string, Session>;
}

export function createSessions(): Sessions {
  return { byKey: new Map() };
}

/**
 * Returns the session of a command's `lsid` and creates it on first use. Undefined if the command
 * has no `lsid`.
 */
export function sessionOf(sessions: Sessions, command: Doc): Session | undefined {
  const lsid = command['lsid'];
  if (lsid === undefined) {
    if (command['txnNumber'] !== undefined) {
      throw new MongoError(72, 'Transaction number requires a session ID to also be specified');
    }
    return undefined;
  }
  const session = openSession(sessions, sessionIdOf(lsid));
  session.lastUsedAtMs = Date.now();
  return session;
}

/** Returns the 16 bytes of a session id `{id: UUID}`. */
export function sessionIdOf(lsid: unknown): Buffer {
  const id = isDoc(lsid) ? lsid['id'] : undefined;
  if (!(id instanceof Binary) || id.sub_type !== Binary.SUBTYPE_UUID || id.position !== 16) {
    throw new MongoError(14, "the field 'lsid.id' must be a UUID");
  }
  return Buffer.from(id.buffer.subarray(0, 16));
}

function openSession(sessions: Sessions, id: Buffer): Session {
  const key = id.toString('latin1');
  const known = sessions.byKey.get(key);
  if (known !== undefined) {
    return known;
  }
  const session: Session = {
    key,
    id,
    txnNumber: -1n,
    state: 'none',
    transaction: null,
    statements: new Map(),
    transactionStartedAtMs: 0,
    lastUsedAtMs: Date.now(),
    connectionId: 0,
    orphanedAtMs: Infinity,
  };
  sessions.byKey.set(key, session);
  return session;
}

/**
 * Returns the transaction of a command. A command with `startTransaction` begins a new transaction.
 */
export function transactionFor(
  store: Store,
  session: Session,
  { command, connectionId }: { command: Doc; connectionId: number },
): Transaction {
  const number = txnNumberOf(command);
  if (command['startTransaction'] === true) {
    return startTransaction(store, session, { number, connectionId });
  }
  refuseOld(session, number);
  const { transaction } = session;
  if (number !== session.txnNumber || session.state === 'none' || session.state === 'retryable') {
    throw createNoSuchTransactionError(
      `Given transaction number ${number} does not match any in-progress transactions. The active transaction number is ${session.txnNumber}`,
    );
  }
  if (session.state === 'committed') {
    throw new MongoError(256, `Transaction with { txnNumber: ${number} } has been committed.`);
  }
  if (session.state === 'aborted' || transaction === null) {
    throw createNoSuchTransactionError(`Transaction with { txnNumber: ${number} } has been aborted.`);
  }
  session.connectionId = connectionId;
  session.orphanedAtMs = Infinity;
  return transaction;
}

/** Prepares the session for a retryable write with the transaction number of the command. */
export function beginRetryable(store: Store, session: Session, command: Doc): void {
  const number = txnNumberOf(command);
  refuseOld(session, number);
  if (number > session.txnNumber) {
    endTransaction(store, session, 'none');
    session.txnNumber = number;
    session.state = 'retryable';
    session.statements = new Map();
  } else if (session.state !== 'retryable') {
    throw new MongoError(
      217,
      `Cannot use txnNumber ${number} for a retryable write: it is the number of a transaction on this session`,
    );
  }
}

/** Aborts the open transaction, if there is one, and sets the state of the session. */
export function endTransaction(store: Store, session: Session, state: Session['state']): void {
  if (session.transaction !== null) {
    abort(store, session.transaction);
    session.transaction = null;
  }
  session.state = state;
  session.orphanedAtMs = Infinity;
}

/** Aborts all open transactions. */
export function abortTransactions(store: Store, sessions: Sessions): void {
  for (const session of sessions.byKey.values()) {
    if (session.transaction !== null) {
      endTransaction(store, session, 'aborted');
    }
  }
}

export function createNoSuchTransactionError(message: string): MongoError {
  return new MongoError(251, message);
}

/** Yields the state of each session that must survive a restart, for the snapshot. */
export function* getSessionOutcomes(sessions: Sessions): Generator<SessionOutcome> {
  for (const { id, txnNumber, state, statements } of sessions.byKey.values()) {
    if (state === 'committed') {
      yield { sessionId: id, txnNumber, statements: null };
    } else if (state === 'retryable' && statements.size > 0) {
      yield { sessionId: id, txnNumber, statements };
    }
  }
}

/** Restores the state of a session from a journal entry. */
export function restoreOutcome(
  sessions: Sessions,
  { sessionId, txnNumber, statements }: SessionOutcome,
): void {
  const session = openSession(sessions, sessionId);
  if (statements === null) {
    session.statements = new Map();
    session.state = 'committed';
  } else {
    const isSame = session.txnNumber === txnNumber && session.state === 'retryable';
    session.statements = isSame ? new Map([...session.statements, ...statements]) : statements;
    session.state = 'retryable';
  }
  session.txnNumber = txnNumber;
}

function startTransaction(
  store: Store,
  session: Session,
  { number, connectionId }: { number: bigint; connectionId: number },
): Transaction {
  refuseOld(session, number);
  if (number === session.txnNumber) {
    throw new MongoError(
      50911,
      `Cannot start a transaction at given transaction number ${number} a transaction with the same number is in state ${session.state}`,
    );
  }
  endTransaction(store, session, 'none');
  session.txnNumber = number;
  session.state = 'inProgress';
  session.statements = new Map();
  session.transaction = begin(store, { explicit: true });
  session.transactionStartedAtMs = Date.now();
  session.connectionId = connectionId;
  return session.transaction;
}

function refuseOld(session: Session, number: bigint): void {
  if (number < session.txnNumber) {
    throw new MongoError(
      225,
      `Cannot use transaction number ${number} on this session because a newer one, ${session.txnNumber}, has already started`,
    );
  }
}

function txnNumberOf(command: Doc): bigint {
  const number = command['txnNumber'];
  if (number instanceof Long) {
    // For a large Long, toBigInt converts through text, which would take longer than the rest of
    // the lookup.
    return number.high === 0 ? BigInt(number.getLowBitsUnsigned()) : number.toBigInt();
  }
  if (typeof number === 'number' && Number.isInteger(number)) {
    return BigInt(number);
  }
  throw new MongoError(14, "the field 'txnNumber' must be a 64-bit integer");
}
