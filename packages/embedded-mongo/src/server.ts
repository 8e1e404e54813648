import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { resolve } from 'node:path';
import { ObjectId } from 'bson';
import { runCommand } from './commands/run-command.js';
import type { Parameters, Server } from './commands/context.js';
import { dropIdleCursors } from './commands/cursors.js';
import { createSnapshotReads, releaseExpiredSnapshots } from './commands/snapshot-reads.js';
import { stepDown } from './commands/step-down.js';
import { createElection } from './election.js';
import { majorityLagFor, type Failpoints } from './failpoints.js';
import { describeSystemError } from './journal/data-directory-error.js';
import { openJournal, type JournalError } from './journal/journal.js';
import { createDataDirectory } from './journal/journal-files.js';
import { lockDirectory } from './journal/lock-file.js';
import { recover } from './journal/recover.js';
import { compact } from './store/compact.js';
import { expireDocuments } from './store/expire.js';
import { applyEntry, createLoadState, finishLoading } from './store/load.js';
import { createMajority, type Lag, type Majority } from './store/majority.js';
import { createStore, type Store } from './store/store.js';
import { orphanTransactionsOf, reapSessions } from './transactions/reaper.js';
import {
  createSessions,
  getSessionOutcomes,
  restoreOutcome,
  type Sessions,
} from './transactions/sessions.js';
import { createClusterClock, type ClusterClock } from './wire/cluster-time.js';
import { serveConnection } from './wire/connection.js';

export interface ServerOptions {
  /** Port to listen on. Zero selects any free port. */
  port: number;
  /**
   * Address to listen on. There is no authentication, so any address other than a loopback address
   * exposes all data to the network.
   */
  bind: string;
  dbPath: string;
  /**
   * If false, writes are acknowledged before they are synced to disk. They survive a killed process
   * but not a power failure.
   */
  fsync: boolean;
  setName: string;
  /**
   * The journal is replaced by a snapshot when it has at least this size and is at least as large
   * as the last snapshot.
   */
  compactAtBytes: number;
  /**
   * The `transactionLifetimeLimitSeconds`. If it is set, an open transaction outlives its
   * connection until this limit, as in MongoDB. If it is null, the limit is 60 seconds, and a
   * transaction is aborted soon after its connection was closed.
   */
  lockLifetimeSeconds: number | null;
  /**
   * The number of milliseconds without a primary. The server loses one election, soon after its
   * start. If it is null, the server stays primary.
   */
  electionMs: number | null;
  /**
   * Each write reaches the majority after a random delay in this range of milliseconds. If it is
   * null, there is no delay.
   */
  majorityLagMs: Lag | null;
  /** Writes a log line for the operator. */
  log: (line: string) => void;
  /**
   * Called after the server has stopped because the journal could not be written. The process
   * should end.
   */
  onFailure: (error: Error) => void;
}

export interface RunningServer {
  port: number;
  uri: string;
  stop: () => Promise<void>;
}

const SESSION_TIMEOUT_MINUTES = 30;
/**
 * How long a transaction outlives its last connection, so that a driver can continue the
 * transaction on another connection.
 */
const ORPHAN_GRACE_MS = 3000;
/**
 * Delay between the start and the election. By then clients have connected and operations are in
 * progress.
 */
const ELECTION_AFTER_MS = 5000;

/**
 * Opens the data directory and starts the server.
 * @throws DataDirectoryError if the directory is in use, damaged or not writable.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const directory = resolve(options.dbPath);
  createDataDirectory(directory);
  const unlock = lockDirectory(directory);
  let listener: NetServer | undefined;
  const sockets = new Set<Socket>();
  const closeSockets = (): void => {
    listener?.close();
    for (const socket of sockets) {
      socket.destroy();
    }
  };
  const onFailure = (error: JournalError): void => {
    // Wait until the error replies are sent. Then stop serving, because the memory may contain data
    // that is not on disk.
    setTimeout(() => {
      closeSockets();
      options.onFailure(error);
    }, 50).unref();
  };
  try {
    const clock = createClusterClock();
    const failpoints: Failpoints = new Map();
    const majority = createMajority({
      timeOf: clock.at,
      lagOf: (written) => {
        const ms = majorityLagFor(failpoints, written);
        return ms === null ? options.majorityLagMs : { minMs: ms, maxMs: ms };
      },
    });
    const { store, sessions } = openStore(directory, { ...options, onFailure, majority });
    const server = createServerState({ store, sessions, clock, failpoints }, options);
    listener = createListener(server, sockets, options);
    const port = await listen(listener, options);
    server.address = `${hostFor(options.bind)}:${port}`;
    const stopChores = startChores(server, { ...options, directory });
    let stopping: Promise<void> | undefined;
    return {
      port,
      uri: `mongodb://${server.address}/?replicaSet=${options.setName}`,
      stop: () => {
        stopping ??= (async () => {
          closeSockets();
          await stopChores();
          await store.journal.close();
          unlock();
        })();
        return stopping;
      },
    };
  } catch (error) {
    closeSockets();
    unlock();
    throw error;
  }
}

function openStore(
  directory: string,
  {
    fsync,
    log,
    onFailure,
    majority,
  }: {
    fsync: boolean;
    log: (line: string) => void;
    onFailure: (error: JournalError) => void;
    majority: Majority;
  },
): { store: Store; sessions: Sessions } {
  const sessions = createSessions();
  const startedAt = Date.now();
  const loading = createLoadState((outcome) => restoreOutcome(sessions, outcome));
  const position = recover(directory, (entry) => applyEntry(loading, entry));
  const store = createStore(openJournal({ directory, sync: fsync, onFailure }, position), majority);
  finishLoading(store, loading);
  if (store.clock > 0) {
    log(`opened ${directory}: ${loading.collections.size} collections in ${Date.now() - startedAt} ms`);
  }
  return { store, sessions };
}

function createServerState(
  {
    store,
    sessions,
    clock,
    failpoints,
  }: { store: Store; sessions: Sessions; clock: ClusterClock; failpoints: Failpoints },
  { setName, lockLifetimeSeconds }: ServerOptions,
): Server {
  return {
    store,
    sessions,
    cursors: new Map(),
    failpoints,
    election: createElection(),
    clock,
    snapshotReads: createSnapshotReads(),
    parameters: {
      transactionLifetimeLimitSeconds: lockLifetimeSeconds ?? 60,
      ttlMonitorSleepSecs: 60,
      ttlMonitorEnabled: true,
      cursorTimeoutMillis: 600_000,
    },
    commandCounts: new Map(),
    setName,
    address: '',
    processId: new ObjectId(),
    startedAtMs: Date.now(),
  };
}

function createListener(
  server: Server,
  sockets: Set<Socket>,
  { lockLifetimeSeconds, log }: ServerOptions,
): NetServer {
  let lastConnectionId = 0;
  return createServer((socket) => {
    sockets.add(socket);
    lastConnectionId += 1;
    serveConnection(socket, lastConnectionId, {
      answer: (request, connection) => runCommand(server, request, connection),
      closed: (connection) => {
        sockets.delete(socket);
        if (lockLifetimeSeconds === null) {
          orphanTransactionsOf(server.sessions, connection.id, Date.now() + ORPHAN_GRACE_MS);
        }
      },
      log,
    });
  });
}

function listen(listener: NetServer, { port, bind }: ServerOptions): Promise<number> {
  return new Promise((resolvePort, reject) => {
    listener.once('error', (error) =>
      reject(new Error(`Cannot listen on ${bind}:${port}: ${describeSystemError(error)}.`, { cause: error })),
    );
    listener.listen(port, bind, () => {
      const address = listener.address();
      resolvePort(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

/** Returns the host name that clients can connect to. */
function hostFor(bind: string): string {
  if (bind === '0.0.0.0' || bind === '::') {
    return '127.0.0.1';
  }
  return bind.includes(':') ? `[${bind}]` : bind;
}

/** Starts the background tasks. Returns a function that stops them. */
function startChores(
  server: Server,
  { directory, fsync, compactAtBytes, electionMs, log }: ServerOptions & { directory: string },
): () => Promise<void> {
  const { store, sessions, parameters } = server;
  let compaction: Promise<void> | undefined;
  let retryAtBytes = 0;
  let expiredAtMs = Date.now();
  const compactIfNeeded = (): void => {
    const { journalBytes, snapshotBytes } = store.journal.stats;
    if (compaction !== undefined || journalBytes < Math.max(compactAtBytes, snapshotBytes, retryAtBytes)) {
      return;
    }
    compaction = compact(store, { directory, sync: fsync, outcomes: () => getSessionOutcomes(sessions) })
      .then(
        () => {
          retryAtBytes = 0;
        },
        (error: unknown) => {
          // A failure loses no data, because the journal is still complete. Try again after the
          // journal has grown further.
          log(`the journal could not be compacted: ${describeSystemError(error)}`);
          retryAtBytes = store.journal.stats.journalBytes + compactAtBytes;
        },
      )
      .finally(() => {
        compaction = undefined;
      });
  };
  const timer = setInterval(() => {
    const nowMs = Date.now();
    reapSessions(store, sessions, limitsOf(parameters), nowMs);
    dropIdleCursors(server.cursors, parameters.cursorTimeoutMillis, nowMs);
    releaseExpiredSnapshots(server.snapshotReads, store, nowMs);
    if (
      server.election.isPrimary &&
      parameters.ttlMonitorEnabled &&
      nowMs - expiredAtMs >= parameters.ttlMonitorSleepSecs * 1000
    ) {
      expiredAtMs = nowMs;
      expireDocuments(store, nowMs);
    }
    compactIfNeeded();
  }, 500);
  const election =
    electionMs === null ? undefined : setTimeout(() => stepDown(server, electionMs), ELECTION_AFTER_MS);
  return async () => {
    clearInterval(timer);
    clearTimeout(election);
    await compaction;
  };
}

function limitsOf({ transactionLifetimeLimitSeconds }: Parameters): {
  transactionLifetimeSeconds: number;
  sessionTimeoutMinutes: number;
} {
  return {
    transactionLifetimeSeconds: transactionLifetimeLimitSeconds,
    sessionTimeoutMinutes: SESSION_TIMEOUT_MINUTES,
  };
}
