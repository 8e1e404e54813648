/** The connection to MongoDB, and multi-document transactions with a retry loop of our own. */
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

/** What money code sees of a database session: always passed explicitly. */
export type Session = ClientSession;

/** Options that make a read see the moment of `atSnapshot`. Never the session alone: the client's own level would stay. */
export interface Snapshot {
  session: Session;
  readConcern: 'snapshot';
}

/**
 * Both clients name their concerns, because the defaults of a server can be changed by its operator.
 *
 * Writes: a majority holds what is answered as done.
 *
 * Reads: `local` is the newest state, which a change of the primary can take back. It is right for what a guarded write or a
 * transaction decides, and for looking again after such a write was refused. Decisions about money are made elsewhere:
 * postings and `inTransaction` read at a snapshot and commit to a majority, `atSnapshot` reads what a majority holds,
 * and `findConfirmed` does where a client is told that something was done before, or was not.
 */
const concerns = {
  writeConcern: { w: 'majority' },
  readConcern: { level: 'local' },
  readPreference: 'primary',
} as const;

/**
 * @param options.socketMs Time-out of a command without any answer from MongoDB; 0: none, for building indexes.
 * @param options.anyVersion Accepts a server that is too old, unless the driver refuses it. `topup doctor` reports it.
 * @throws ServerTooOldError
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
    // Work that was asked for while MongoDB is away must fail at once, so that the client hears 503/03 in time.
    bufferCommands: false,
    serverSelectionTimeoutMS: limits.dependencyTimeoutMs,
    // A heartbeat that is late by it closes what is in use.
    connectTimeoutMS: socketMs === 0 ? limits.migrationConnectMs : limits.dependencyTimeoutMs,
    heartbeatFrequencyMS: 2_000,
    waitQueueTimeoutMS: limits.dependencyTimeoutMs,
    socketTimeoutMS: socketMs,
    ...concerns,
  });
  await awaitSupportedConnection(mongoose.connection.getClient(), connecting);
  try {
    if (!anyVersion) {
      requireVersion('MongoDB', await mongodbVersion());
    }
    await connectPostings();
  } catch (error) {
    await disconnectMongo();
    throw error;
  }
}

export async function mongodbVersion(): Promise<string> {
  const options = { timeoutMS: limits.dependencyTimeoutMs };
  const { version } = await mongoose.connection.getClient().db('admin').command({ buildInfo: 1 }, options);
  return String(version);
}

const startPauseMs = 250;

/**
 * For processes that serve: MongoDB is waited for, for `limits.startPatienceMs`, as an election takes longer than one attempt. Whoever restarts
 * processes may do so ever more slowly.
 * @throws what the last attempt met; at once, if that is not that MongoDB is away, or if the process is to stop.
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
        logger.warn('MongoDB does not answer, waiting for it', { error });
      }
      await new Promise((resolve) => setTimeout(resolve, startPauseMs));
    }
  }
}

/** What MongoDB's primary takes the time to be, in milliseconds since the epoch. @throws its errors, and of its being away. */
export async function mongodbTime(): Promise<number> {
  const options = { timeoutMS: limits.dependencyTimeoutMs };
  const { localTime } = await mongoose.connection.getClient().db().command({ hello: 1 }, options);
  return (localTime as Date).getTime();
}

/**
 * Before the first command: a client whose first connection fails is closed for good, so none may meet an outage with
 * it. Its own limits are short, for a start on a busy machine too: it is tried anew for as long as the other client has.
 */
async function connectPostings(): Promise<void> {
  const endMs = performance.now() + limits.dependencyTimeoutMs;
  for (;;) {
    try {
      await postingClient().connect();
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

/** From now on nobody gets a connection, also not what goes on after its caller has failed: the process can end. */
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
 * The same collection for short reads on the way of a purchase, which a dead socket must not hold up for long either:
 * those of what a process keeps in memory (`cached`) among them, for which every caller of that moment waits.
 */
export function getQuickCollection<T extends Document>(
  from: Collection<T> | ReadOnlyModel<T>,
): Collection<T> {
  const name = 'collectionName' in from ? from.collectionName : getCollectionName(from);
  return postingDb().collection<T>(name);
}

/**
 * The client of the posting engine alone: a socket that has died must not hold up money for longer than
 * `limits.postingSocketMs`, which would be too short for a report, and no report may take its connections.
 * @throws DependencyError after `disconnectMongo`.
 */
export function postingClient(): MongoClient {
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

/** Its database, made once: the driver derives all its options anew with each `db()`. */
export function postingDb(): Db {
  const client = postingClient();
  if (postingsDb?.client !== client) {
    postingsDb = client.db();
  }
  return postingsDb;
}

/** Throws unless MongoDB answers. */
export async function pingMongo(): Promise<void> {
  await mongoose.connection.getClient().db().command({ ping: 1 }, { timeoutMS: limits.dependencyTimeoutMs });
}

/**
 * Runs `work` in one database transaction (snapshot reads, majority writes) and commits it. For configuration and the
 * like; whatever moves money is a posting (src/money/posting).
 *
 * `work` can run several times: it must do nothing but database calls on its session, one after the other.
 * Transient conflicts run it again, an unknown commit result repeats the commit alone.
 * @throws UnknownOutcomeError if the outcome of the commit is not known: look the result up by its unique key.
 * @throws DependencyError when the deadline passes or MongoDB is away: nothing was written.
 */
export async function inTransaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
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

/** SnapshotUnavailable: a collection or an index is too new. SnapshotTooOld: MongoDB has forgotten the moment. */
const lostSnapshot = new Set<unknown>([246, 239]);
const snapshotAttemptsMax = 5;
const snapshotPauseMs = 50;

/**
 * Reads as of one moment that a majority holds, for as long as MongoDB remembers it (5 minutes by default): for more than
 * fits into the lifetime of a database transaction. `find` and `aggregate` of the driver's own collections only.
 * @param read Gives the options to each of its reads. It runs again at a newer moment if MongoDB does not have this one, so
 *   it only reads and returns what it found. The first of its reads fixes the moment: none may run beside it.
 */
export async function atSnapshot<T>(read: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const session = await mongoose.connection.startSession({ snapshot: true });
    try {
      return await read({ session, readConcern: 'snapshot' });
    } catch (error) {
      const isLost = error instanceof MongoServerError && lostSnapshot.has(error.code);
      if (!isLost || attempt === snapshotAttemptsMax) {
        throw error;
      }
    } finally {
      await session.endSession();
    }
    await new Promise((resolve) => setTimeout(resolve, snapshotPauseMs * 2 ** attempt * Math.random()));
  }
}

/** A commit was sent and its answer never came: it may or may not hold. Look by its unique key, or ask again with it. */
export class UnknownOutcomeError extends DependencyError {}

/** Whatever error a commit ends in, it may have been applied, unless MongoDB says that the transaction was aborted. */
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
      logger.warn('commit result unknown, asking again', { error });
      await backOff(attempt);
    }
  }
}

async function abortQuietly(session: Session): Promise<void> {
  if (session.inTransaction()) {
    // The server drops an abandoned transaction by itself; the first error is the one worth reporting.
    await session.abortTransaction().catch(() => undefined);
  }
}

/** Full jitter up to 64 ms: conflicts on one wallet must not meet again at the same moment. */
async function backOff(attempt: number): Promise<void> {
  const limitMs = Math.min(64, 2 ** attempt);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * limitMs));
}

function hasLabel(error: unknown, label: string): boolean {
  return error instanceof MongoError && error.hasErrorLabel(label);
}

/** The database transaction was aborted and can be run again as a whole. */
export function isTransient(error: unknown): boolean {
  return hasLabel(error, 'TransientTransactionError');
}

export function isDuplicateKey(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && error.code === 11000;
}

/** A socket's own words: the driver lets them through where it waited for the socket to take a long command. */
const socketCodes = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT']);

/** ShutdownInProgress, InterruptedAtShutdown: the last words of a server. */
const shutdownCodes = new Set<unknown>([91, 11600]);

/** True for errors that say "MongoDB does not answer", as opposed to "it refused this". */
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
