import { setTimeout as delay } from 'node:timers/promises';
import { MongoError } from '../errors.js';
import type { CommandFailure } from '../failpoints.js';
import { endTransaction, sessionOf } from '../transactions/sessions.js';
import { isDoc, type Doc } from '../values/types.js';
import type { Connection } from '../wire/connection.js';
import type { CommandResult, Server } from './context.js';
import { errorLabels, TRANSIENT_LABEL, type ErrorContext } from './error-reply.js';
import { stepDown } from './step-down.js';

/**
 * The error label of a command that the server has not processed. Drivers send the command again in
 * the same transaction.
 */
const OVERLOADED_LABEL = 'SystemOverloadedError';

/** A command that matches a failpoint. */
interface FailedCommand {
  command: Doc;
  connection: Connection;
  setting: ErrorContext;
}

/**
 * Applies the effects of a failpoint that come before the command.
 * @returns false if the command must not run.
 * @throws MongoError with the error code of the failpoint.
 */
export async function applyFailpointBefore(
  server: Server,
  failure: CommandFailure,
  { command, connection, setting }: FailedCommand,
): Promise<boolean> {
  if (failure.blockMs > 0) {
    await delay(failure.blockMs);
  }
  if (failure.closeConnection) {
    connection.isToClose = true;
    return false;
  }
  if (failure.errorCode !== null) {
    const labels = labelsOf(failure, failure.errorCode, setting);
    const endsIt =
      labels.includes(TRANSIENT_LABEL) || (!setting.endsTransaction && !labels.includes(OVERLOADED_LABEL));
    if (setting.inTransaction && endsIt) {
      // Such an error ends the transaction. The client then retries with a new transaction, which
      // must not wait for the locks of this one.
      abortTransactionOf(server, command);
    }
    throw errorOf(failure, failure.errorCode, labels);
  }
  return true;
}

/** Applies the effects of a failpoint that come after the command. */
export function applyFailpointAfter(
  server: Server,
  failure: CommandFailure,
  { result, setting }: { result: CommandResult; setting: ErrorContext },
): CommandResult {
  if (failure.stepDownAfter !== null) {
    stepDown(server, failure.stepDownAfter * 1000);
  }
  const { writeConcernError } = failure;
  if (writeConcernError === null || !isDoc(result)) {
    return result;
  }
  const labels = labelsOf(failure, Number(writeConcernError['code']), { ...setting, inTransaction: false });
  return { ...result, writeConcernError, ...(labels.length > 0 ? { errorLabels: labels } : {}) };
}

function labelsOf(failure: CommandFailure, code: number, setting: ErrorContext): readonly string[] {
  return failure.errorLabels ?? errorLabels(code, setting);
}

function errorOf(failure: CommandFailure, code: number, labels: readonly string[]): MongoError {
  return new MongoError(
    code,
    "Failing command via 'failCommand' failpoint",
    // Pass on an empty list too. Otherwise `errorReply` would add the default labels.
    labels.length > 0 || failure.errorLabels !== null ? { errorLabels: labels } : {},
  );
}

function abortTransactionOf(server: Server, command: Doc): void {
  const session = sessionOf(server.sessions, command);
  if (session !== undefined && String(session.txnNumber) === String(command['txnNumber'])) {
    endTransaction(server.store, session, 'aborted');
  }
}
