import { setTimeout as delay } from 'node:timers/promises';
import { MongoError } from '../errors.js';
import type { CommandFailure } from '../failpoints.js';
import { endTransaction, sessionOf } from '../transactions/sessions.js';
import { isDoc, type Doc } from '../values/types.js';
import type { Connection } from '../wire/connection.js';
import type { CommandResult, Server } from './context.js';
import { errorLabels, TRANSIENT_LABEL, type ErrorSetting } from './error-reply.js';
import { stepDown } from './step-down.js';

/** Says that the server did not look at the command; drivers send it again, within the same transaction. */
const OVERLOADED_LABEL = 'SystemOverloadedError';

/** A command that a failpoint means. */
interface FailedCommand {
  command: Doc;
  connection: Connection;
  setting: ErrorSetting;
}

/**
 * Does what a failpoint wants done before the command takes effect. @returns false if the command is not to be run.
 * @throws MongoError with the code that it wants.
 */
export async function failBefore(
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
      // As with any error of these kinds: who hears it begins anew, and must not meet its own locks.
      abortTransactionOf(server, command);
    }
    throw errorOf(failure, failure.errorCode, labels);
  }
  return true;
}

/** Does what a failpoint wants done once the command has taken effect. */
export function failAfter(
  server: Server,
  failure: CommandFailure,
  { result, setting }: { result: CommandResult; setting: ErrorSetting },
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

function labelsOf(failure: CommandFailure, code: number, setting: ErrorSetting): readonly string[] {
  return failure.errorLabels ?? errorLabels(code, setting);
}

function errorOf(failure: CommandFailure, code: number, labels: readonly string[]): MongoError {
  return new MongoError(
    code,
    "Failing command via 'failCommand' failpoint",
    // An empty list too, so that no label is added further up.
    labels.length > 0 || failure.errorLabels !== null ? { errorLabels: labels } : {},
  );
}

function abortTransactionOf(server: Server, command: Doc): void {
  const session = sessionOf(server.sessions, command);
  if (session !== undefined && String(session.txnNumber) === String(command['txnNumber'])) {
    endTransaction(server.store, session, 'aborted');
  }
}
