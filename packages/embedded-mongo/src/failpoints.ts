import { MongoError } from './errors.js';
import { isDoc, type Doc } from './values/types.js';

/** Failures that tests ask for, as the drivers' specifications define them. */
export interface Failpoints {
  failCommand: Failpoint | null;
  onPrimaryTransactionalWrite: Failpoint | null;
}

interface Failpoint {
  data: Doc;
  /** How often it still applies, and how many matching uses it lets pass first. */
  timesLeft: number;
  skipsLeft: number;
}

/** What a failpoint does to a command. */
export interface CommandFailure {
  blockMs: number;
  closeConnection: boolean;
  errorCode: number | null;
  errorLabels: readonly string[] | null;
  writeConcernError: Doc | null;
}

export function createFailpoints(): Failpoints {
  return { failCommand: null, onPrimaryTransactionalWrite: null };
}

/** Applies a `configureFailPoint` command. */
export function configureFailpoint(failpoints: Failpoints, name: string, mode: unknown, data: Doc): void {
  if (name !== 'failCommand' && name !== 'onPrimaryTransactionalWrite') {
    throw new MongoError(2, `failpoint ${name} is not supported`);
  }
  failpoints[name] = mode === 'off' ? null : { data, ...countsOf(mode) };
}

/** The failure that `failCommand` has for this command, if any; counts it as used. */
export function failureFor(
  failpoints: Failpoints,
  command: string,
  applicationName: string | null,
): CommandFailure | null {
  const point = failpoints.failCommand;
  if (point === null) {
    return null;
  }
  const {
    failCommands,
    appName,
    errorCode,
    errorLabels,
    writeConcernError,
    closeConnection,
    blockConnection,
    blockTimeMS,
  } = point.data;
  const isMeant =
    Array.isArray(failCommands) &&
    failCommands.includes(command) &&
    (appName === undefined || appName === applicationName);
  if (!isMeant || !use(point)) {
    return null;
  }
  return {
    blockMs: blockConnection === true ? Number(blockTimeMS ?? 0) : 0,
    closeConnection: closeConnection === true,
    errorCode: errorCode === undefined ? null : Number(errorCode),
    errorLabels: Array.isArray(errorLabels) ? errorLabels.map(String) : null,
    writeConcernError: isDoc(writeConcernError) ? writeConcernError : null,
  };
}

/** What `onPrimaryTransactionalWrite` does to a retryable write about to be committed; counts it as used. */
export function failureOfRetryableWrite(
  failpoints: Failpoints,
): { closeConnection: boolean; errorCode: number | null } | null {
  const point = failpoints.onPrimaryTransactionalWrite;
  if (point === null || !use(point)) {
    return null;
  }
  const { closeConnection, failBeforeCommitExceptionCode } = point.data;
  return {
    closeConnection: closeConnection !== false,
    errorCode: failBeforeCommitExceptionCode === undefined ? null : Number(failBeforeCommitExceptionCode),
  };
}

function use(point: Failpoint): boolean {
  if (point.skipsLeft > 0) {
    point.skipsLeft -= 1;
    return false;
  }
  if (point.timesLeft <= 0) {
    return false;
  }
  point.timesLeft -= 1;
  return true;
}

function countsOf(mode: unknown): { timesLeft: number; skipsLeft: number } {
  if (mode === 'alwaysOn') {
    return { timesLeft: Infinity, skipsLeft: 0 };
  }
  if (isDoc(mode)) {
    const { times, skip } = mode;
    if (times !== undefined || skip !== undefined) {
      return { timesLeft: times === undefined ? Infinity : Number(times), skipsLeft: Number(skip ?? 0) };
    }
  }
  throw new MongoError(2, "the mode of a failpoint must be 'off', 'alwaysOn', {times: n} or {skip: n}");
}
