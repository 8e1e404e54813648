import { MongoError } from '../errors.js';
import { JournalError } from '../journal/journal.js';
import type { Doc } from '../values/types.js';

/** Error codes after which a driver may retry the same command. */
const RETRYABLE = new Set([6, 7, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436]);
/** Error codes after which a driver may retry the whole transaction. */
const TRANSIENT = new Set([24, 112, 246, 239, 267]);
const NO_SUCH_TRANSACTION = 251;

/**
 * The error label of a transaction that was aborted. The client may retry the whole transaction.
 */
export const TRANSIENT_LABEL = 'TransientTransactionError';

/** Error codes that tell the client that this server is no longer the primary. */
export const NOT_PRIMARY_CODES: ReadonlySet<number> = new Set([91, 189, 10107, 11600, 11602, 13435, 13436]);

/** The properties of a failed command that determine its error labels. */
export interface ErrorContext {
  inTransaction: boolean;
  endsTransaction: boolean;
  retryableWrite: boolean;
}

/** Returns the error labels. They tell drivers whether to retry the command or the transaction. */
export function errorLabels(
  code: number,
  { inTransaction, endsTransaction, retryableWrite }: ErrorContext,
): string[] {
  const labels: string[] = [];
  if (inTransaction || endsTransaction) {
    const isTransient =
      TRANSIENT.has(code) || code === NO_SUCH_TRANSACTION || (!endsTransaction && RETRYABLE.has(code));
    if (isTransient) {
      labels.push(TRANSIENT_LABEL);
    }
  }
  if ((retryableWrite || endsTransaction) && RETRYABLE.has(code)) {
    labels.push('RetryableWriteError');
  }
  return labels;
}

/** Builds the reply to a failed command. */
export function errorReply(error: unknown, setting: ErrorContext): Doc {
  const known = asMongoError(error);
  const labels = known.extra['errorLabels'] === undefined ? errorLabels(known.code, setting) : [];
  return {
    ok: 0,
    errmsg: known.message,
    code: known.code,
    codeName: known.codeName,
    ...known.extra,
    ...(labels.length > 0 ? { errorLabels: labels } : {}),
  };
}

export function asMongoError(error: unknown): MongoError {
  if (error instanceof MongoError) {
    return error;
  }
  if (error instanceof JournalError) {
    return new MongoError(14031, error.message);
  }
  return new MongoError(1, error instanceof Error ? error.message : String(error));
}

/** Builds the element of `writeErrors` for a failed statement. */
export function writeError(error: MongoError, index: number): Doc {
  return { index, code: error.code, ...error.extra, errmsg: error.message };
}
