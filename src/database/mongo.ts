import mongoose, { type ClientSession } from 'mongoose';
import { MongoClient, MongoError, MongoServerError, type Collection, type Db, type Document } from 'mongodb';
import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import { DependencyError } from '../shared/errors.js';
import { logger } from '../shared/logger.js';
import { isStopping } from '../shared/shutdown.js';
import { nowMs } from '../shared/clock.js';
import { requireVersion } from '../shared/server-versions.js';
import { getCollectionName, type ReadOnlyModel } from './read-only-model.js';
import { shardRanges } from './sharding.js';
import { awaitSupportedConnection } from './driver-compatibility.js';

/** A database session. Callers always pass it explicitly. */
export type Session = ClientSession;

/**
 * Read options of `withSnapshot`. Always pass both fields. With the session alone, the client's
 * default read concern would apply.
 */
export interface Snapshot {
  session: Session;
  readConcern: 'snapshot';
}

/**
 * Both clients set their concerns explicitly, because an operator can change the server's defaults.
 *
 * Writes use `majority`, so that no operation is reported as done before a majority holds it.
 *
 * Reads use `local`, which returns the newest state. A failover can roll that state back. `local`
 * suits guarded writes, transactions, and reads after a refused write.
 *
 * Decisions about money use other reads. Postings and `runInTransaction` read at a snapshot and commit
 * to a majority. `withSnapshot` and `findConfirmed` read what a majority holds.
 */
const concerns = {
  writeConcern: { w: 'majority' },
  readConcern: { level: 'local' },
  readPreference: 'primary',
} as const;

/**
 * Connects both clients.
 *
 * @param options.socketMs Socket timeout of a command in milliseconds. 0 means no timeout, which
 *   index builds need.
 * @param options.anyVersion True to accept a server that is too old, unless the driver refuses it.
 *   `topup doctor` reports the version.
 * @throws ServerTooOldError if the server is too old.
 */
export async function connectMongo({
  socketMs = limits.mongoSocketMs,
  anyVersion = false,
}: { socketMs?: number; anyVersion?: boolean } = {}): Promise<void> {
  isClosed = false;
  mongoose.set('strictQuery', true);
  const connecting = mongoose.connect(env.MONGODB_URI, {
    autoIndex: false,
    autoCreate: false,
    maxPoolSize: env.MONGODB_POOL_SIZE,
    // Commands fail at once while MongoDB is unavailable, so that the client gets 503/03 in time.
    bufferCommands: false,
    serverSelectionTimeoutMS: limits.dependencyTimeoutMs,
    // A late heartbeat closes connections in use, so the limit is longer for index builds.
    connectTimeoutMS: socketMs === 0 ? limits.migrationConnectMs : limits.dependencyTimeoutMs,
    heartbeatFrequencyMS: 2_000,
    waitQueueTimeoutMS: limits.dependencyTimeoutMs,
    socketTimeoutMS: socketMs,
    ...concerns,
  });
  await awaitSupportedConnection(mongoose.connection.getClient(), connecting);
  try {
    if (!anyVersion) {
      requireVersion('MongoDB', await getMongodbVersion());
    }
    await connectPostings();
  } catch (error) {
    await disconnectMongo();
    throw error;
  }
}

export async function getMongodbVersion(): Promise<string> {
  const options = { timeoutMS: limits.dependencyTimeoutMs };
  const { version } = await mongoose.connection.getClient().db('admin').command({ buildInfo: 1 }, options);
  return String(version);
}

const startPauseMs = 250;

/**
 * Connects, and retries for `limits.startPatienceMs`, because an election takes longer than one
 * attempt. A process that exits instead may be restarted with growing delays by its process
 * manager.
 *
 * @throws The last error. Throws at once if MongoDB is reachable or the process is stopping.
 */
export async function awaitMongo(): Promise<void> {
  const endMs = performance.now() + limits.startPatienceMs;
  for (let attempt = 1; ; attempt++) {
    try {
      await connectMongo();
      return;
    } catch (error) {
      if (!isMongoUnavailable(error) || isStopping() || performance.now() >= endMs) {
        throw error;
      }
      if (attempt === 1) {
        logger.warn('MongoDB does not respond; waiting for it', { error });
      }
      await new Promise((resolve) => setTimeout(resolve, startPauseMs));
    }
  }
}

/**
 * Returns the clock of MongoDB's primary, in milliseconds since the epoch.
 * @throws MongoDB errors, also if MongoDB is unavailable.
 */
export async function getMongodbTime(): Promise<number> {
  const options = { timeoutMS: limits.dependencyTimeoutMs };
  const { localTime } = await mongoose.connection.getClient().db().command({ hello: 1 }, options);
  return (localTime as Date).getTime();
}

/**
 * Connects the posting client before its first command, because a client whose first connection
 * fails stays closed. Its own timeouts are short. On a busy machine they may be too short for the
 * start, so new clients are tried until `limits.dependencyTimeoutMs`.
 */
async function connectPostings(): Promise<void> {
  const endMs = performance.now() + limits.dependencyTimeoutMs;
  for (;;) {
    try {
      await getPostingClient().connect();
      return;
    } catch (error) {
      await postings?.close().catch(() => undefined);
      postings = undefined;
      if (performance.now() >= endMs) {
        throw error;
      }
    }
  }
}

/**
 * Closes both clients so that the process can end. Later calls fail, including background work
 * whose callers have already failed.
 */
export async function disconnectMongo(): Promise<void> {
  isClosed = true;
  const closing = postings?.close();
  postings = undefined;
  await Promise.all([mongoose.disconnect(), closing]);
}

let isClosed = false;
let postings: MongoClient | undefined;
let postingsDb: Db | undefined;

/**
 * Returns the same collection on the posting client, for short reads while a purchase is processed.
 * Its short socket timeout limits the delay that a dead socket causes. Cached reads use it too,
 * because all concurrent callers wait for one such read.
 */
export function getQuickCollection<T extends Document>(
  from: Collection<T> | ReadOnlyModel<T>,
): Collection<T> {
  const name = 'collectionName' in from ? from.collectionName : getCollectionName(from);
  return getPostingDb().collection<T>(name);
}

/**
 * Returns the client of the posting engine. Its timeout `limits.postingSocketMs` limits how long a
 * dead socket blocks postings, and is too short for reports. Reports use the other client, so they
 * cannot take its connections.
 * @throws DependencyError after `disconnectMongo`.
 */
export function getPostingClient(): MongoClient {
  if (isClosed) {
    throw new DependencyError(new Error('the connection to MongoDB was closed'));
  }
  postings ??= new MongoClient(env.MONGODB_URI, {
    maxPoolSize: limits.postingConnectionsMax + (shardRanges - 1) * limits.postingLanes,
    socketTimeoutMS: limits.postingSocketMs,
    connectTimeoutMS: limits.postingSelectionMs,
    serverSelectionTimeoutMS: limits.postingSelectionMs,
    waitQueueTimeoutMS: limits.postingSocketMs,
    heartbeatFrequencyMS: 2_000,
    ...concerns,
  });
  return postings;
}

/**
 * Returns the posting client's database. It is cached because each `db()` call of the driver
 * derives all options again.
 */
export function getPostingDb(): Db {
  const client = getPostingClient();
  if (postingsDb?.client !== client) {
    postingsDb = client.db();
  }
  return postingsDb;
}

/** @throws MongoDB errors if MongoDB does not respond. */
export async function pingMongo(): Promise<void> {
  await mongoose.connection.getClient().db().command({ ping: 1 }, { timeoutMS: limits.dependencyTimeoutMs });
}

/**
 * Runs `work` in a database transaction at a snapshot, and commits to a majority. After a transient
 * error, `work` runs again, until `limits.transactionDeadlineMs`.
 */
export async function runInTransaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
  const deadline = nowMs() + limits.transactionDeadlineMs;
  for (let attempt = 1; ; attempt++) {
    const session = await mongoose.connection.startSession().catch((error: unknown) => {
      throw new DependencyError(error);
    });
    try {
      session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } });
      const result = await work(session);
      await commit(session, deadline);
      return result;
    } catch (error) {
      await abortQuietly(session);
      if (!isTransient(error)) {
        throw isMongoUnavailable(error) ? new DependencyError(error) : error;
      }
      if (nowMs() >= deadline) {
        throw new DependencyError(error);
      }
      await backOff(attempt);
    } finally {
      await session.endSession();
    }
  }
}

/**
 * Error codes of a lost snapshot. SnapshotUnavailable means that a collection or an index is too
 * new. SnapshotTooOld means that MongoDB no longer keeps the snapshot.
 */
const lostSnapshotCodes = new Set<unknown>([246, 239]);
const snapshotAttemptsMax = 5;
const snapshotPauseMs = 50;

/**
 * Reads at one snapshot that a majority holds, for longer than a database transaction can last.
 * MongoDB keeps snapshots for 5 minutes by default. Only `find` and `aggregate` on the driver's
 * collections support it.
 *
 * @param read Gets the options for each of its reads. It must only read, because it runs again at a
 *   newer snapshot if this one is lost. Its first read fixes the snapshot and must not run
 *   concurrently with other reads.
 */
export async function withSnapshot<T>(read: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const session = await mongoose.connection.startSession({ snapshot: true });
    try {
      return await read({ session, readConcern: 'snapshot' });
    } catch (error) {
      const isLost = error instanceof MongoServerError && lostSnapshotCodes.has(error.code);
      if (!isLost || attempt === snapshotAttemptsMax) {
        throw error;
      }
    } finally {
      await session.endSession();
    }
    await new Promise((resolve) => setTimeout(resolve, snapshotPauseMs * 2 ** attempt * Math.random()));
  }
}

/**
 * A commit was sent but its response never arrived, so it may or may not have been applied. Look up
 * the result by its unique key, or retry with the same key.
 */
export class UnknownOutcomeError extends DependencyError {}

/** Commits. After any error, the commit may have been applied, unless MongoDB reports an abort. */
async function commit(session: Session, deadline: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await session.commitTransaction();
      return;
    } catch (error) {
      if (isTransient(error)) {
        throw error;
      }
      if (nowMs() >= deadline) {
        throw new UnknownOutcomeError(error);
      }
      logger.warn('commit outcome unknown, retrying', { error });
      await backOff(attempt);
    }
  }
}

async function abortQuietly(session: Session): Promise<void> {
  if (session.inTransaction()) {
    // The server drops an abandoned transaction itself. Report only the first error.
    await session.abortTransaction().catch(() => undefined);
  }
}

/**
 * Waits with full jitter up to 64 ms, so that transactions that conflicted on a wallet do not
 * collide again.
 */
async function backOff(attempt: number): Promise<void> {
  const limitMs = Math.min(64, 2 ** attempt);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * limitMs));
}

function hasLabel(error: unknown, label: string): boolean {
  return error instanceof MongoError && error.hasErrorLabel(label);
}

/** True if the database transaction was aborted and can be retried as a whole. */
export function isTransient(error: unknown): boolean {
  return hasLabel(error, 'TransientTransactionError');
}

export function isDuplicateKey(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && error.code === 11000;
}

/** Raw socket errors, which the driver does not wrap while it writes a long command. */
const socketCodes = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT']);

/** Error codes of ShutdownInProgress and InterruptedAtShutdown. */
const shutdownCodes = new Set<unknown>([91, 11600]);

/** True for errors that mean "MongoDB is unavailable", not "MongoDB refused this". */
export function isMongoUnavailable(error: unknown): boolean {
  return (
    error instanceof Error &&
    ((error instanceof MongoServerError && shutdownCodes.has(error.code)) ||
      ('code' in error && socketCodes.has(String(error.code))) ||
      /^Mongo(Network|ServerSelection|NotConnected|PoolCleared|PoolClosed|WaitQueueTimeout|OperationTimeout|Topology)/.test(
        error.name,
      ) ||
      error.name === 'MongooseServerSelectionError' ||
      (error instanceof MongoError && error.hasErrorLabel('RetryableWriteError')))
  );
}
