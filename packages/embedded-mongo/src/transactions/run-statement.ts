import { createNotPrimaryError, refuseInterrupted, type Election } from '../election.js';
import { MongoError } from '../errors.js';
import { failureOfRetryableWrite, type Failpoints } from '../failpoints.js';
import type { Doc } from '../values/types.js';
import type { Connection } from '../wire/connection.js';
import { LockedError } from '../store/conflict.js';
import { abort, begin, commit, type Store } from '../store/store.js';
import { waitForEnd, type Reader } from '../store/reader.js';
import type { Transaction } from '../store/transaction.js';
import type { Session } from './sessions.js';

/** The context in which a statement runs. */
export interface StatementContext {
  store: Store;
  /** The transaction to which the command belongs, or null. */
  transaction: Transaction | null;
  /** The session that remembers the reply for a retry. Null if the statement is not retryable. */
  retrySession: Session | null;
  /** The time at which the wait for a lock ends (`maxTimeMS`), or Infinity. */
  deadlineMs: number;
  failpoints: Failpoints;
  election: Election;
  connection: Connection;
}

/**
 * Runs a write atomically. Inside a transaction, the write becomes a part of that transaction.
 * Outside of a transaction, the write is committed immediately. On a lock conflict, the write is
 * undone. After the other transaction has ended, the write is repeated including its filter.
 *
 * @param attempt The write. It may run several times, so it must not keep state from a failed run.
 */
export async function runStatement<T>(
  context: StatementContext,
  attempt: (transaction: Transaction) => T,
): Promise<T> {
  if (context.transaction !== null) {
    return attempt(context.transaction);
  }
  const { store, election } = context;
  if (!election.isPrimary) {
    throw createNotPrimaryError();
  }
  const { version } = election;
  const txnNumber = context.retrySession?.txnNumber;
  for (;;) {
    const transaction = begin(store, { explicit: false });
    try {
      const result = attempt(transaction);
      if (transaction.outcome !== null) {
        failRetryableWrite(context);
      }
      commit(store, transaction);
      for (const [statement, reply] of transaction.outcome?.statements ?? []) {
        context.retrySession?.statements.set(statement, reply);
      }
      return result;
    } catch (error) {
      abort(store, transaction);
      if (!(error instanceof LockedError)) {
        throw error;
      }
      await waitForLockRelease(context, error.holder);
      refuseInterrupted(election, version);
      if (context.retrySession !== null && context.retrySession.txnNumber !== txnNumber) {
        throw new MongoError(225, 'A newer retryable write or transaction has started on this session');
      }
    }
  }
}

/**
 * Returns the remembered reply if the statement is a retry. The caller then returns this reply and
 * does not run the statement.
 */
export function findRememberedReply(context: StatementContext, statement: number): Doc | undefined {
  return context.retrySession?.statements.get(statement);
}

/**
 * Remembers the reply of a statement. The journal contains it together with the writes of the
 * statement.
 */
export function rememberReply(
  context: StatementContext,
  transaction: Transaction,
  statement: number,
  reply: Doc,
): void {
  const session = context.retrySession;
  if (session === null) {
    return;
  }
  transaction.outcome ??= { sessionId: session.id, txnNumber: session.txnNumber, statements: new Map() };
  transaction.outcome.statements?.set(statement, reply);
}

async function waitForLockRelease(
  { deadlineMs, connection }: StatementContext,
  holder: Reader,
): Promise<void> {
  if (deadlineMs === Infinity) {
    await waitForEnd(holder);
  } else {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new MongoError(50, 'operation exceeded time limit')),
        Math.max(0, deadlineMs - Date.now()),
      );
      void waitForEnd(holder).then(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
  if (connection.socket.destroyed) {
    throw new MongoError(279, 'client disconnected while the operation waited for a lock');
  }
}

function failRetryableWrite({ failpoints, connection }: StatementContext): void {
  const failure = failureOfRetryableWrite(failpoints);
  if (failure === null) {
    return;
  }
  if (failure.closeConnection) {
    connection.isToClose = true;
  }
  if (failure.errorCode !== null) {
    throw new MongoError(failure.errorCode, "Failing write via 'onPrimaryTransactionalWrite' failpoint");
  }
}
