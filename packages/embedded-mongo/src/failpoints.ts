import { boolField, checkFields, docField, numberField, type FieldType } from './commands/fields.js';
import { MongoError } from './errors.js';
import { isDoc, isNumeric, type Doc } from './values/types.js';

/**
 * Simulated failures by name, set by tests. `failCommand` and `onPrimaryTransactionalWrite` follow
 * the drivers' specifications. `majorityLag` delays the replication of writes to the majority and
 * does not exist in MongoDB.
 */
export type Failpoints = Map<string, Failpoint>;

interface Failpoint {
  data: Doc;
  /** How many more times the failpoint applies. */
  timesLeft: number;
  /** How many matching commands it skips before it applies. */
  skipsLeft: number;
  /** The probability, from 0 to 1, that the failpoint applies to a matching command. */
  probability: number;
  /** How many times the failpoint has applied. */
  count: number;
}

/** The effect of a failpoint on a command. */
export interface CommandFailure {
  blockMs: number;
  closeConnection: boolean;
  errorCode: number | null;
  errorLabels: readonly string[] | null;
  writeConcernError: Doc | null;
  /**
   * The number of seconds without a primary after the command has taken effect. Null for no
   * step-down.
   */
  stepDownAfter: number | null;
}

/** The fields of `data` of `failCommand`. `stepDownAfter` does not exist in MongoDB. */
const COMMAND_DATA: Readonly<Record<string, FieldType>> = {
  failCommands: 'array',
  appName: 'string',
  namespace: 'string',
  failInternalCommands: 'bool',
  blockConnection: 'bool',
  blockTimeMS: 'natural',
  closeConnection: 'bool',
  errorCode: 'number',
  errorLabels: 'array',
  writeConcernError: 'object',
  stepDownAfter: 'natural',
};

const FAIL_COMMAND = 'failCommand';
export const MAJORITY_LAG = 'majorityLag';

/**
 * The fields of `data` of `majorityLag`. Without `ms`, the delay lasts until the failpoint is
 * turned off.
 */
const LAG_DATA: Readonly<Record<string, FieldType>> = { ms: 'natural', namespace: 'string' };

/**
 * Returns the delay in milliseconds that a failpoint sets for a commit to these collections, or
 * null.
 */
export function majorityLagFor(
  failpoints: Failpoints,
  written: Iterable<{ readonly namespace: string }>,
): number | null {
  const point = failpoints.get(MAJORITY_LAG);
  if (point === undefined) {
    return null;
  }
  const { namespace, ms } = point.data;
  const isMeantHere =
    namespace === undefined || [...written].some((collection) => collection.namespace === namespace);
  return isMeantHere && tryUse(point) ? (numberOrNull(ms) ?? Infinity) : null;
}

/**
 * Runs a `configureFailPoint` command.
 * @returns how many times the failpoint has applied with its previous settings.
 */
export function configureFailpoint(
  failpoints: Failpoints,
  name: string,
  { mode, data }: { mode: unknown; data: Doc },
): number {
  const failsCommands = name === FAIL_COMMAND;
  if (!failsCommands && name !== 'onPrimaryTransactionalWrite' && name !== MAJORITY_LAG) {
    throw new MongoError(2, `failpoint ${name} is not supported`);
  }
  const count = failpoints.get(name)?.count ?? 0;
  if (mode === 'off') {
    failpoints.delete(name);
    return count;
  }
  if (failsCommands) {
    checkFields('failCommand.data', data, COMMAND_DATA);
  } else if (name === MAJORITY_LAG) {
    checkFields('majorityLag.data', data, LAG_DATA);
  }
  failpoints.set(name, { data, ...countsOf(mode), count: 0 });
  return count;
}

/**
 * Returns what `failCommand` does to this command, or null. A returned failure counts as one use of
 * the failpoint.
 */
export function failureFor(
  failpoints: Failpoints,
  command: Doc,
  { name, applicationName }: { name: string; applicationName: string | null },
): CommandFailure | null {
  const point = failpoints.get(FAIL_COMMAND);
  const isMeantHere = point !== undefined && isTargeted(point.data, command, { name, applicationName });
  return isMeantHere && tryUse(point) ? failureOf(point.data) : null;
}

/**
 * Returns what `onPrimaryTransactionalWrite` does to a retryable write before its commit, or null.
 * A returned failure counts as one use of the failpoint.
 */
export function failureOfRetryableWrite(
  failpoints: Failpoints,
): { closeConnection: boolean; errorCode: number | null } | null {
  const point = failpoints.get('onPrimaryTransactionalWrite');
  if (point === undefined || !tryUse(point)) {
    return null;
  }
  const { closeConnection, failBeforeCommitExceptionCode } = point.data;
  return {
    closeConnection: closeConnection !== false,
    errorCode: numberOrNull(failBeforeCommitExceptionCode),
  };
}

function isTargeted(
  { failCommands, appName, namespace }: Doc,
  command: Doc,
  { name, applicationName }: { name: string; applicationName: string | null },
): boolean {
  return (
    Array.isArray(failCommands) &&
    failCommands.includes(name) &&
    (appName === undefined || appName === applicationName) &&
    (namespace === undefined || namespace === namespaceOf(name, command))
  );
}

function namespaceOf(name: string, command: Doc): string {
  return `${String(command['$db'])}.${String(command[name === 'getMore' ? 'collection' : name])}`;
}

function failureOf(data: Doc): CommandFailure {
  const { errorLabels } = data;
  return {
    blockMs: boolField(data, 'blockConnection') ? numberField(data, 'blockTimeMS', 0) : 0,
    closeConnection: boolField(data, 'closeConnection'),
    errorCode: numberOrNull(data['errorCode']),
    errorLabels: Array.isArray(errorLabels) ? errorLabels.map(String) : null,
    writeConcernError: docField(data, 'writeConcernError') ?? null,
    stepDownAfter: numberOrNull(data['stepDownAfter']),
  };
}

function numberOrNull(value: unknown): number | null {
  return isNumeric(value) ? Number(value) : null;
}

function tryUse(point: Failpoint): boolean {
  if (point.skipsLeft > 0) {
    point.skipsLeft -= 1;
    return false;
  }
  if (point.timesLeft <= 0 || Math.random() >= point.probability) {
    return false;
  }
  point.timesLeft -= 1;
  point.count += 1;
  return true;
}

function countsOf(mode: unknown): Pick<Failpoint, 'timesLeft' | 'skipsLeft' | 'probability'> {
  const counts = { timesLeft: Infinity, skipsLeft: 0, probability: 1 };
  if (mode === 'alwaysOn') {
    return counts;
  }
  if (isDoc(mode)) {
    const { times, skip, activationProbability } = mode;
    if (isNumeric(activationProbability)) {
      return { ...counts, probability: Number(activationProbability) };
    }
    if (isNumeric(times) || isNumeric(skip)) {
      return {
        ...counts,
        timesLeft: isNumeric(times) ? Number(times) : Infinity,
        skipsLeft: isNumeric(skip) ? Number(skip) : 0,
      };
    }
  }
  throw new MongoError(
    2,
    "the mode of a failpoint must be 'off', 'alwaysOn', {times: n}, {skip: n} or {activationProbability: p}",
  );
}
