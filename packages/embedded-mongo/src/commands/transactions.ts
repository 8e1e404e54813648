import { MongoError } from '../errors.js';
import { commit } from '../store/store.js';
import {
  abortTransactions,
  endTransaction,
  createNoSuchTransactionError,
  sessionIdOf,
  transactionFor,
  type Session,
} from '../transactions/sessions.js';
import type { CommandContext, CommandResult } from './context.js';

/**
 * Runs `commitTransaction`. A client may repeat it, even after a restart, because the journal
 * contains the outcome together with the writes.
 */
export function commitTransaction(context: CommandContext): CommandResult {
  const { server, command, connection } = context;
  const session = sessionOfTransaction(context);
  if (isRepeatedCommit(session, command['txnNumber'])) {
    return {};
  }
  const transaction = transactionFor(server.store, session, { command, connectionId: connection.id });
  if (transaction.writes.size > 0 || transaction.created.length > 0) {
    transaction.outcome = { sessionId: session.id, txnNumber: session.txnNumber, statements: null };
  }
  commit(server.store, transaction);
  session.transaction = null;
  session.state = 'committed';
  return {};
}

export function abortTransaction(context: CommandContext): CommandResult {
  const { server, command, connection } = context;
  const session = sessionOfTransaction(context);
  transactionFor(server.store, session, { command, connectionId: connection.id });
  endTransaction(server.store, session, 'aborted');
  return {};
}

/** Runs `endSessions` or `killSessions`: aborts the open transactions of these sessions. */
export function endSessions({ server, command, name }: CommandContext): CommandResult {
  const ids = command[name];
  for (const lsid of Array.isArray(ids) ? (ids as unknown[]) : []) {
    const session = server.sessions.byKey.get(sessionIdOf(lsid).toString('latin1'));
    if (session !== undefined) {
      endTransaction(server.store, session, session.transaction === null ? session.state : 'aborted');
      // Keep the session until its timeout, because the client may still retry its last commit.
    }
  }
  return {};
}

/** Runs `killAllSessions`: aborts all open transactions. */
export function killAllSessions({ server }: CommandContext): CommandResult {
  abortTransactions(server.store, server.sessions);
  return {};
}

function sessionOfTransaction({ session, command, name }: CommandContext): Session {
  if (session === undefined || command['txnNumber'] === undefined || command['autocommit'] !== false) {
    throw new MongoError(72, `${name} must be run within a transaction`);
  }
  if (session.txnNumber < 0n) {
    throw createNoSuchTransactionError(
      `${name} with a transaction number that does not match any in-progress transaction`,
    );
  }
  return session;
}

function isRepeatedCommit({ state, txnNumber }: Session, number: unknown): boolean {
  return state === 'committed' && String(number) === String(txnNumber);
}
