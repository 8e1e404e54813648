import { Double } from 'bson';
import { setTimeout as delay } from 'node:timers/promises';
import { MongoError } from '../errors.js';
import { failureFor, type CommandFailure } from '../failpoints.js';
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
import type { CommandContext, CommandDefinition, CommandResult, Server } from './context.js';
import { definitionOf } from './definitions.js';
import { errorLabels, errorReply, STATE_CHANGES, type ErrorSetting } from './error-reply.js';
import { boolField, checkCommandFields, docField, numberField } from './fields.js';
import { isAwaitableHello, nextHello, topologyVersionOf } from './hello.js';
import { snapshotReader } from './snapshot-reads.js';
import { checkReadConcern, writeConcernErrorFor } from './concerns.js';

const OK = new Double(1);
const NOT_OK = new Double(0);
const NO_TAIL = Buffer.alloc(0);

/**
 * Answers one request. Whatever goes wrong with it becomes an error reply; nothing is answered before everything that it
 * read or wrote is on disk.
 */
export async function runCommand(
  server: Server,
  request: Request,
  connection: Connection,
): Promise<Reply | null> {
  const { command } = request;
  const name = keysOf(command)[0] ?? '';
  const setting: ErrorSetting = {
    inTransaction: command['autocommit'] === false,
    endsTransaction: name === 'commitTransaction' || name === 'abortTransaction',
    retryableWrite: command['txnNumber'] !== undefined && command['autocommit'] === undefined,
  };
  let result: CommandResult;
  try {
    const failure = failureFor(server.failpoints, name, connection.applicationName);
    if (failure !== null) {
      await applyFailure(failure, connection, setting);
    }
    result = connection.dropReply ? {} : await execute(server, request, { name, connection });
    if (failure !== null && failure.writeConcernError !== null && isDoc(result)) {
      result = { ...result, ...failedWriteConcern(failure, failure.writeConcernError, setting) };
    }
    const durable = server.store.journal.durable();
    if (durable !== undefined) {
      await durable;
    }
  } catch (error) {
    result = errorReply(error, setting);
    if (STATE_CHANGES.has(Number(result['code']))) {
      // Tells the driver that the topology is as it knows it, so that it retries at once instead of looking around.
      result = { ...result, topologyVersion: topologyVersionOf(server) };
    }
  }
  const next = isAwaitableHello(request, name)
    ? async (): Promise<ReplyDocument> => encoded(server, await nextHello(server, connection, command), false)
    : null;
  const isFailed = isDoc(result) && result['ok'] === 0;
  if (next === null || isFailed) {
    return { ...encoded(server, result, request.legacy), next: null };
  }
  // A hello that names the topology it knows waits for a change of it; there is none but the end of its time.
  return { ...(await next()), next: request.exhaustAllowed ? next : null };
}

function encoded(server: Server, result: CommandResult, legacy: boolean): ReplyDocument {
  const document = Buffer.isBuffer(result)
    ? result
    : encode({ ...result, ok: result['ok'] === 0 ? NOT_OK : OK });
  return { document, tail: legacy ? NO_TAIL : server.clock.tail(server.store.clock) };
}

async function applyFailure(
  failure: CommandFailure,
  connection: Connection,
  setting: ErrorSetting,
): Promise<void> {
  if (failure.blockMs > 0) {
    await delay(failure.blockMs);
  }
  if (failure.closeConnection) {
    connection.dropReply = true;
    return;
  }
  if (failure.errorCode !== null) {
    const labels = failure.errorLabels ?? errorLabels(failure.errorCode, setting);
    throw new MongoError(
      failure.errorCode,
      "Failing command via 'failCommand' failpoint",
      // An empty list too, so that no label is added further up.
      labels.length > 0 || failure.errorLabels !== null ? { errorLabels: labels } : {},
    );
  }
}

function failedWriteConcern(failure: CommandFailure, writeConcernError: Doc, setting: ErrorSetting): Doc {
  const labels =
    failure.errorLabels ??
    errorLabels(Number(writeConcernError['code']), { ...setting, inTransaction: false });
  return { writeConcernError, ...(labels.length > 0 ? { errorLabels: labels } : {}) };
}

async function execute(
  server: Server,
  { command, documents, legacy }: Request,
  { name, connection }: { name: string; connection: Connection },
): Promise<CommandResult> {
  const definition = definitionOf(name);
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
    reader: transaction ?? pinnedReader(server, name, command),
    transaction,
    statement: {
      store: server.store,
      failpoints: server.failpoints,
      connection,
      transaction,
      retrySession: isRetryable ? session : null,
      deadlineMs: maxTimeMs > 0 ? Date.now() + maxTimeMs : Infinity,
    },
    now: new Date(),
  };
  try {
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

/** Any error ends the transaction that it happened in. */
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

function pinnedReader(server: Server, name: string, command: Doc): Transaction | null {
  const concern = docField(command, 'readConcern');
  if (concern?.['level'] !== 'snapshot' || (name !== 'find' && name !== 'aggregate' && name !== 'distinct')) {
    return null;
  }
  const { store, clock, snapshotReads } = server;
  return snapshotReader(snapshotReads, { store, clock, atClusterTime: concern['atClusterTime'] }).reader;
}
