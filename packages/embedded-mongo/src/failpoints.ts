import { boolField, checkFields, docField, numberField, type FieldType } from './commands/fields.js';
import { MongoError } from './errors.js';
import { isDoc, isNumeric, type Doc } from './values/types.js';

/**
 * Failures that tests ask for, by name: `failCommand` and `onPrimaryTransactionalWrite`, as the drivers' specifications
 * define them, and `majorityLag`, by which writes reach the majority late and which MongoDB does not have.
 */
export type Failpoints = Map<string, Failpoint>;

interface Failpoint {
  data: Doc;
  /** How often it still applies, and how many matching uses it lets pass first. */
  timesLeft: number;
  skipsLeft: number;
  /** Of 1: how often it applies at all. */
  probability: number;
  /** How often it has applied. */
  count: number;
}

/** The effect of a failpoint on a command. */
export interface CommandFailure {
  blockMs: number;
  closeConnection: boolean;
  errorCode: number | null;
  errorLabels: readonly string[] | null;
  writeConcernError: Doc | null;
  /** Seconds for which the server is no primary, once the command has taken effect. */
  stepDownAfter: number | null;
}

/** What `data` of `failCommand` may hold; the last one is our own. */
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

/** What `data` of `majorityLag` may hold: without `ms` the lag lasts until the point is off. */
const LAG_DATA: Readonly<Record<string, FieldType>> = { ms: 'natural', namespace: 'string' };

/** How long a commit that wrote to these collections reaches the majority later, if a failpoint says so. */
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
  return isMeantHere && use(point) ? (numberOrNull(ms) ?? Infinity) : null;
}

/** Applies a `configureFailPoint` command. @returns how often the point applied as it was set before. */
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

/** The failure that a `failCommand` has for this command, if any; counts it as used. */
export function failureFor(
  failpoints: Failpoints,
  command: Doc,
  { name, applicationName }: { name: string; applicationName: string | null },
): CommandFailure | null {
  const point = failpoints.get(FAIL_COMMAND);
  const isMeantHere = point !== undefined && isMeant(point.data, command, { name, applicationName });
  return isMeantHere && use(point) ? failureOf(point.data) : null;
}

/** What `onPrimaryTransactionalWrite` does to a retryable write about to be committed; counts it as used. */
export function failureOfRetryableWrite(
  failpoints: Failpoints,
): { closeConnection: boolean; errorCode: number | null } | null {
  const point = failpoints.get('onPrimaryTransactionalWrite');
  if (point === undefined || !use(point)) {
    return null;
  }
  const { closeConnection, failBeforeCommitExceptionCode } = point.data;
  return {
    closeConnection: closeConnection !== false,
    errorCode: numberOrNull(failBeforeCommitExceptionCode),
  };
}

function isMeant(
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

function use(point: Failpoint): boolean {
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
