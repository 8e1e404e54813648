import { Binary, Long } from 'bson';
import { MongoError } from '../errors.js';
import { isDoc, type Doc } from '../values/types.js';
import { abort, begin, type Store } from '../store/store.js';
import type { SessionOutcome, Transaction } from '../store/transaction.js';

/**
 * A client's logical session with its newest transaction or retryable write, and the remembered
 * replies.
 */
export interface Session {
  /** The 16 bytes of its id, as a latin1 string. */
  readonly key: string;
  readonly id: Buffer;
  /** Highest transaction number seen; -1 for none. */
  txnNumber: bigint;
  state: 'none' | 'retryable' | 'inProgress' | 'committed' | 'aborted';
  transaction: Transaction | null;
  /** Replies of the statements of the newest retryable write. */
  statements: Map<number, Doc>;
  transactionStartedAtMs: number;
  lastUsedAtMs: number;
  /** The connection of the last command of the transaction in progress. */
  connectionId: number;
  /**
   * Time at which the transaction is aborted because that connection was closed; Infinity while it
   * is open.
   */
  orphanedAtMs: number;
}

export interface Sessions {
  readonly byKey: Map<string, Session>;
}

export function createSessions(): Sessions {
  return { byKey: new Map() };
}

/** The session of a command's `lsid`, created on first use. Undefined without one. */
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

/** The 16 bytes of an `{id: UUID}`. */
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

/** The transaction of a command. A command with `startTransaction` begins it. */
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
    throw noSuchTransaction(
      `Given transaction number ${number} does not match any in-progress transactions. The active transaction number is ${session.txnNumber}`,
    );
  }
  if (session.state === 'committed') {
    throw new MongoError(256, `Transaction with { txnNumber: ${number} } has been committed.`);
  }
  if (session.state === 'aborted' || transaction === null) {
    throw noSuchTransaction(`Transaction with { txnNumber: ${number} } has been aborted.`);
  }
  session.connectionId = connectionId;
  session.orphanedAtMs = Infinity;
  return transaction;
}

/** Prepares the session for a retryable write with this number. */
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

/** Aborts the transaction in progress, if any, and sets the session's state. */
export function endTransaction(store: Store, session: Session, state: Session['state']): void {
  if (session.transaction !== null) {
    abort(store, session.transaction);
    session.transaction = null;
  }
  session.state = state;
  session.orphanedAtMs = Infinity;
}

/** Aborts every transaction in progress. */
export function abortTransactions(store: Store, sessions: Sessions): void {
  for (const session of sessions.byKey.values()) {
    if (session.transaction !== null) {
      endTransaction(store, session, 'aborted');
    }
  }
}

export function noSuchTransaction(message: string): MongoError {
  return new MongoError(251, message);
}

/** The state of all sessions that must survive a restart, for a snapshot. */
export function* getSessionOutcomes(sessions: Sessions): Generator<SessionOutcome> {
  for (const { id, txnNumber, state, statements } of sessions.byKey.values()) {
    if (state === 'committed') {
      yield { sessionId: id, txnNumber, statements: null };
    } else if (state === 'retryable' && statements.size > 0) {
      yield { sessionId: id, txnNumber, statements };
    }
  }
}

/** Restores the state of a session from the journal. */
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
    // toBigInt of a large Long goes through text, which would cost more than the rest of the
    // lookup.
    return number.high === 0 ? BigInt(number.getLowBitsUnsigned()) : number.toBigInt();
  }
  if (typeof number === 'number' && Number.isInteger(number)) {
    return BigInt(number);
  }
  throw new MongoError(14, "the field 'txnNumber' must be a 64-bit integer");
}
