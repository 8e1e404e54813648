import { Double, Long } from 'bson';
import { MongoError } from '../errors.js';
import { configureFailpoint, MAJORITY_LAG } from '../failpoints.js';
import { databaseOf } from '../store/collection.js';
import { isDoc, isNumeric, type Doc } from '../values/types.js';
import { collectionFor } from '../store/store.js';
import type { CommandContext, CommandResult, Parameters } from './context.js';
import { docField, namespaceOf } from './fields.js';

const VERSION = '7.0.0';

export function buildInfo(): CommandResult {
  return {
    version: VERSION,
    versionArray: [7, 0, 0, 0],
    gitVersion: 'embedded-mongo',
    modules: ['embedded-mongo'],
    storageEngines: ['embedded-mongo'],
    javascriptEngine: 'none',
    bits: 64,
    debug: false,
    maxBsonObjectSize: 16_777_216,
  };
}

export function serverStatus({ server }: CommandContext): CommandResult {
  const { rss, heapUsed, external } = process.memoryUsage();
  const cpu = process.cpuUsage();
  return {
    host: server.address,
    version: VERSION,
    process: 'embedded-mongo',
    pid: Long.fromNumber(process.pid),
    uptime: new Double((Date.now() - server.startedAtMs) / 1000),
    localTime: new Date(),
    storageEngine: { name: 'embedded-mongo', persistent: true },
    repl: { setName: server.setName, isWritablePrimary: server.election.isPrimary },
    mem: { resident: Math.round(rss / 2 ** 20), heapUsedBytes: heapUsed, externalBytes: external },
    cpu: { userMicros: cpu.user, systemMicros: cpu.system },
    journal: { ...server.store.journal.stats },
    metrics: {
      cursor: { open: { total: server.cursors.size } },
      commands: Object.fromEntries(
        [...server.commandCounts].map(([name, { total, failed }]) => [
          name,
          { total: Long.fromNumber(total), failed: Long.fromNumber(failed) },
        ]),
      ),
    },
    logicalSessionRecordCache: { activeSessionsCount: server.sessions.byKey.size },
    transactions: { currentOpen: countOpenTransactions(server.sessions.byKey.values()) },
  };
}

export function dbStats({ server, database }: CommandContext): CommandResult {
  let collections = 0;
  let objects = 0;
  let indexes = 0;
  for (const collection of server.store.collections.values()) {
    if (databaseOf(collection.namespace) === database) {
      collections += 1;
      objects += collection.records.size;
      indexes += collection.indexes.length;
    }
  }
  return { db: database, collections, views: 0, objects, indexes };
}

export function collStats({ server, database, command }: CommandContext): CommandResult {
  const namespace = namespaceOf(database, command['collStats']);
  const collection = collectionFor(server.store, namespace, null);
  let size = 0;
  for (const { version } of collection?.records.values() ?? []) {
    size += version?.bytes?.length ?? 0;
  }
  const count = collection?.records.size ?? 0;
  return {
    ns: namespace,
    count,
    size,
    avgObjSize: count === 0 ? 0 : Math.round(size / count),
    storageSize: size,
    nindexes: collection?.indexes.length ?? 0,
    capped: false,
  };
}

const PARAMETERS: readonly (keyof Parameters)[] = [
  'transactionLifetimeLimitSeconds',
  'ttlMonitorSleepSecs',
  'ttlMonitorEnabled',
  'cursorTimeoutMillis',
];

export function getParameter({ server, command }: CommandContext): CommandResult {
  const all: Doc = {
    ...server.parameters,
    ...Object.fromEntries(
      [...server.failpoints].map(([name, { data, count }]) => [
        `failpoint.${name}`,
        { data, timesEntered: Long.fromNumber(count) },
      ]),
    ),
    featureCompatibilityVersion: { version: '7.0' },
    enableTestCommands: true,
    requireApiVersion: false,
    authenticationMechanisms: [],
  };
  const wanted = command['getParameter'];
  const names = wanted === '*' ? Object.keys(all) : Object.keys(command).filter((name) => name in all);
  if (names.length === 0) {
    throw new MongoError(72, 'no option found to get');
  }
  return Object.fromEntries(names.map((name) => [name, all[name]]));
}

export function setParameter({ server, command }: CommandContext): CommandResult {
  let was: unknown = null;
  for (const [name, value] of Object.entries(command)) {
    const parameter = PARAMETERS.find((known) => known === name);
    if (parameter === 'ttlMonitorEnabled' && typeof value === 'boolean') {
      was = server.parameters.ttlMonitorEnabled;
      server.parameters.ttlMonitorEnabled = value;
    } else if (
      parameter !== undefined &&
      parameter !== 'ttlMonitorEnabled' &&
      isNumeric(value) &&
      Number(value) > 0
    ) {
      was = server.parameters[parameter];
      server.parameters[parameter] = Number(value);
    } else if (parameter !== undefined) {
      throw new MongoError(2, `Invalid value for parameter ${parameter}`);
    }
  }
  return { was };
}

export function configureFailPoint({ server, command }: CommandContext): CommandResult {
  const name = String(command['configureFailPoint']);
  const data = docField(command, 'data') ?? {};
  const count = configureFailpoint(server.failpoints, name, { mode: command['mode'], data });
  if (name === MAJORITY_LAG && command['mode'] === 'off') {
    server.store.majority.release();
  }
  return { count };
}

export function connectionStatus(): CommandResult {
  return { authInfo: { authenticatedUsers: [], authenticatedUserRoles: [] } };
}

export function whatsMyUri({ connection }: CommandContext): CommandResult {
  return { you: `${connection.socket.remoteAddress ?? ''}:${connection.socket.remotePort ?? 0}` };
}

/** Refuses a command that mongosh or drivers may send but that this server does not support. */
export function rejectUnsupportedCommand({ name }: CommandContext): never {
  throw new MongoError(115, `embedded-mongo does not support the command '${name}'`);
}

/** Acknowledges a command that requires no action, such as `ping` or `refreshSessions`. */
export function replyOk(): CommandResult {
  return {};
}

function countOpenTransactions(sessions: Iterable<{ transaction: unknown }>): number {
  let open = 0;
  for (const { transaction } of sessions) {
    open += isDoc(transaction) ? 1 : 0;
  }
  return open;
}
