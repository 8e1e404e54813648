import { Double, Timestamp } from 'bson';
import { refuseInterrupted, refuseUnlessPrimary } from '../election.js';
import { MongoError } from '../errors.js';
import { failureFor } from '../failpoints.js';
import { encode } from '../values/encode.js';
import { keysOf } from '../values/fields.js';
import { isDoc, type Doc } from '../values/types.js';
import {
  beginRetryable,
  endTransaction,
  sessionOf,
  transactionFor,
  type Session,
} from '../transactions/sessions.js';
import type { Transaction } from '../store/transaction.js';
import type { Connection, Reply, ReplyDocument } from '../wire/connection.js';
import type { Request } from '../wire/message.js';
import { applyFailpointAfter, applyFailpointBefore } from './command-failure.js';
import type { CommandContext, CommandDefinition, CommandResult, Server } from './context.js';
import { definitionOf, isCommand } from './definitions.js';
import { errorReply, NOT_PRIMARY_CODES, type ErrorContext } from './error-reply.js';
import { boolField, checkCommandFields, docField, numberField } from './fields.js';
import { createHelloStream, isAwaitableHello, topologyVersionOf } from './hello.js';
import { snapshotReader } from './snapshot-reads.js';
import {
  checkReadConcern,
  majorityTimeout,
  majorityWaitMs,
  requiresMajorityAck,
  writeConcernErrorFor,
} from './concerns.js';

const OK = new Double(1);
const NOT_OK = new Double(0);
const NO_TAIL = Buffer.alloc(0);

/**
 * Runs one request and returns the reply. Every failure becomes an error reply. The reply is
 * returned only after all data that the command read or wrote is on disk.
 */
export async function runCommand(
  server: Server,
  request: Request,
  connection: Connection,
): Promise<Reply | null> {
  const { command } = request;
  const name = keysOf(command)[0] ?? '';
  const setting: ErrorContext = {
    inTransaction: command['autocommit'] === false,
    endsTransaction: name === 'commitTransaction' || name === 'abortTransaction',
    retryableWrite: command['txnNumber'] !== undefined && command['autocommit'] === undefined,
  };
  let result: CommandResult;
  try {
    result = await runWithFailpoints(server, request, { name, connection, setting });
  } catch (error) {
    result = errorReply(error, setting);
    if (NOT_PRIMARY_CODES.has(Number(result['code']))) {
      // With the current topology version, the driver retries immediately instead of checking the
      // topology first.
      result = { ...result, topologyVersion: topologyVersionOf(server) };
    }
  }
  const isFailed = isDoc(result) && result['ok'] === 0;
  count(server, name, isFailed);
  if (isFailed || !isAwaitableHello(request, name)) {
    return { ...encodeReply(server, result, request), next: null };
  }
  const hellos = createHelloStream(server, connection, command);
  const next = async (): Promise<ReplyDocument> =>
    encodeReply(server, await hellos(), { legacy: false, command });
  return { ...(await next()), next: request.exhaustAllowed ? next : null };
}

/** Counts only existing commands. A client could otherwise fill the memory with unknown names. */
function count({ commandCounts }: Server, name: string, isFailed: boolean): void {
  if (!isCommand(name)) {
    return;
  }
  const counted = commandCounts.get(name) ?? { total: 0, failed: 0 };
  counted.total += 1;
  counted.failed += isFailed ? 1 : 0;
  commandCounts.set(name, counted);
}

/**
 * Runs a command with its failpoints. Then waits until all data that the result depends on is on
 * disk.
 */
async function runWithFailpoints(
  server: Server,
  request: Request,
  { name, connection, setting }: { name: string; connection: Connection; setting: ErrorContext },
): Promise<CommandResult> {
  const { failpoints, election, store } = server;
  const { command } = request;
  const { applicationName } = connection;
  const failure = failpoints.size === 0 ? null : failureFor(failpoints, command, { name, applicationName });
  if (failure !== null && !(await applyFailpointBefore(server, failure, { command, connection, setting }))) {
    return {};
  }
  const definition = definitionOf(name);
  const reads = definition.reads === true;
  const writes = setting.inTransaction || (definition.writes === true && !reads);
  refuseUnlessPrimary(election, { command, writes, reads });
  const { version } = election;
  const waitsForMajority =
    (!setting.inTransaction || name === 'commitTransaction') &&
    requiresMajorityAck(command, { name, writes: definition.writes === true });
  let result: CommandResult;
  try {
    result = await execute(server, request, { name, definition, connection });
  } catch (error) {
    // If the client reads with a majority after a duplicate-key error, it must find the other
    // document.
    if (waitsForMajority && error instanceof MongoError && error.code === 11000) {
      await waitForMajority(server, command);
    }
    throw error;
  }
  const commits = store.clock;
  if (failure !== null) {
    result = applyFailpointAfter(server, failure, { result, setting });
  }
  const durable = store.journal.durable();
  if (durable !== undefined) {
    await durable;
  }
  if (waitsForMajority && !(await waitForMajority(server, command, commits)) && isDoc(result)) {
    result = { ...result, writeConcernError: majorityTimeout(command) };
  }
  if (writes) {
    refuseInterrupted(election, version);
  }
  return result;
}

/**
 * Waits until a majority has these commits. Returns false if the command's time limit ends first.
 */
async function waitForMajority(
  { store }: Server,
  command: Doc,
  commits: number = store.clock,
): Promise<boolean> {
  const arrival = store.majority.reached(commits);
  const limitMs = majorityWaitMs(command);
  return arrival === undefined || (await waitForArrival(arrival, limitMs));
}

/** Waits for the promise. Returns false if the time limit ends first. */
async function waitForArrival(arrival: Promise<void>, limitMs: number): Promise<boolean> {
  if (limitMs === Infinity) {
    await arrival;
    return true;
  }
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs);
  });
  const isInTime = await Promise.race([arrival.then(() => true), limit]);
  clearTimeout(timer);
  return isInTime;
}

/**
 * Returns the time fields at the end of a reply. For a majority read, the operation time is the
 * time of the newest commit that a majority has.
 */
function tailFor({ clock, store }: Server, command: Doc): Buffer {
  const { time } = store.majority;
  const level = time === null ? undefined : docField(command, 'readConcern')?.['level'];
  const isOfMajority =
    (level === 'majority' || level === 'snapshot') &&
    command['autocommit'] === undefined &&
    command['getMore'] === undefined;
  return time !== null && isOfMajority ? clock.tailAt(store.clock, time) : clock.tail(store.clock);
}

function encodeReply(
  server: Server,
  result: CommandResult,
  { legacy, command }: { legacy: boolean; command: Doc },
): ReplyDocument {
  const document = Buffer.isBuffer(result)
    ? result
    : encode({ ...result, ok: result['ok'] === 0 ? NOT_OK : OK });
  return { document, tail: legacy ? NO_TAIL : tailFor(server, command) };
}

async function execute(
  server: Server,
  { command, documents, legacy }: Request,
  { name, definition, connection }: { name: string; definition: CommandDefinition; connection: Connection },
): Promise<CommandResult> {
  checkCommandFields(name, command, definition.fields);
  const session = sessionOf(server.sessions, command);
  const transaction = resolveTransaction(server, { command, name, definition, session, connection });
  const isRetryable =
    session !== undefined && command['txnNumber'] !== undefined && command['autocommit'] === undefined;
  if (isRetryable) {
    beginRetryable(server.store, session, command);
  }
  const maxTimeMs = numberField(command, 'maxTimeMS', 0);
  const context: CommandContext = {
    server,
    name,
    command,
    database: typeof command['$db'] === 'string' ? command['$db'] : '',
    documents,
    legacy,
    connection,
    session,
    reader: transaction ?? createConcernReader(server, name, command),
    transaction,
    statement: {
      store: server.store,
      failpoints: server.failpoints,
      election: server.election,
      connection,
      transaction,
      retrySession: isRetryable ? session : null,
      deadlineMs: maxTimeMs > 0 ? Date.now() + maxTimeMs : Infinity,
    },
    now: new Date(),
  };
  try {
    if (transaction === null) {
      await waitForReadTime(server, command);
    }
    const result = await definition.handle(context);
    if (isDoc(result) && Array.isArray(result['writeErrors'])) {
      failTransaction(server, session, transaction);
    }
    const concernError = definition.writes === true ? writeConcernErrorFor(command) : null;
    return concernError === null || Buffer.isBuffer(result)
      ? result
      : { ...result, writeConcernError: concernError };
  } catch (error) {
    failTransaction(server, session, transaction);
    throw error;
  }
}

/**
 * Aborts the transaction. As in MongoDB, a transaction ends with the first error of one of its
 * commands.
 */
function failTransaction(
  server: Server,
  session: Session | undefined,
  transaction: Transaction | null,
): void {
  if (transaction !== null && session?.transaction === transaction) {
    endTransaction(server.store, session, 'aborted');
  }
}

function resolveTransaction(
  server: Server,
  {
    command,
    name,
    definition,
    session,
    connection,
  }: {
    command: Doc;
    name: string;
    definition: CommandDefinition;
    session: Session | undefined;
    connection: Connection;
  },
): Transaction | null {
  const isTransaction = command['autocommit'] === false;
  if (!isTransaction) {
    if (command['autocommit'] !== undefined || boolField(command, 'startTransaction')) {
      throw new MongoError(72, "'autocommit' must be false, and 'startTransaction' needs it");
    }
    checkReadConcern(command, { name, transaction: 'none' });
    return null;
  }
  if (session === undefined || command['txnNumber'] === undefined) {
    throw new MongoError(72, "'autocommit' field requires a transaction number to also be specified");
  }
  if (definition.endsTransaction === true) {
    return null;
  }
  const starts = boolField(command, 'startTransaction');
  if (definition.inTransaction !== true) {
    if (session.transaction !== null) {
      endTransaction(server.store, session, 'aborted');
    }
    throw new MongoError(263, `Cannot run '${name}' in a multi-document transaction.`);
  }
  if (command['writeConcern'] !== undefined) {
    throw new MongoError(72, 'writeConcern is not allowed within a multi-statement transaction');
  }
  checkReadConcern(command, { name, transaction: starts ? 'starting' : 'continued' });
  return transactionFor(server.store, session, { command, connectionId: connection.id });
}

/**
 * Waits until a majority has reached the `afterClusterTime` or `atClusterTime` of a majority read
 * or snapshot read.
 * @throws MongoError 50 if the time limit of the command ends first.
 */
async function waitForReadTime({ store }: Server, command: Doc): Promise<void> {
  if (store.majority.time === null) {
    return;
  }
  const concern = docField(command, 'readConcern');
  const level = concern?.['level'];
  const time = concern?.['atClusterTime'] ?? concern?.['afterClusterTime'];
  if ((level !== 'majority' && level !== 'snapshot') || !(time instanceof Timestamp)) {
    return;
  }
  const arrival = store.majority.reachedTime(time);
  const maxTimeMs = numberField(command, 'maxTimeMS', 0);
  if (arrival !== undefined && !(await waitForArrival(arrival, maxTimeMs > 0 ? maxTimeMs : Infinity))) {
    throw new MongoError(50, 'operation exceeded time limit');
  }
}

const READS_OF_MAJORITY: ReadonlySet<string> = new Set(['find', 'aggregate', 'distinct', 'count']);

/**
 * Returns the reader that the read concern of a command outside of a transaction requires. Null
 * means that the command reads the newest data.
 */
function createConcernReader(server: Server, name: string, command: Doc): Transaction | null {
  const concern = docField(command, 'readConcern');
  if (concern?.['level'] === 'majority' && READS_OF_MAJORITY.has(name)) {
    return server.store.majorityReader;
  }
  if (concern?.['level'] !== 'snapshot' || (name !== 'find' && name !== 'aggregate' && name !== 'distinct')) {
    return null;
  }
  const { store, clock, snapshotReads } = server;
  return snapshotReader(snapshotReads, { store, clock, atClusterTime: concern['atClusterTime'] }).reader;
}
