/** The connection to MongoDB, and multi-document transactions with a retry loop of our own. */
import mongoose, { type ClientSession } from 'mongoose';
import { MongoError, MongoServerError } from 'mongodb';
import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import { DependencyError } from '../shared/errors.js';
import { logger } from '../shared/logger.js';
import { nowMs } from '../shared/clock.js';
import { takeTurns } from '../shared/take-turns.js';

/** What money code sees of a database session: always passed explicitly. */
export type Session = ClientSession;

export async function connectMongo(): Promise<void> {
  mongoose.set('strictQuery', true);
  await mongoose.connect(env.MONGODB_URI, {
    autoIndex: false,
    autoCreate: false,
    maxPoolSize: env.MONGODB_POOL_SIZE,
    // Work that was asked for while MongoDB is away must fail at once, so that the client hears 503/03 in time.
    bufferCommands: false,
    serverSelectionTimeoutMS: limits.dependencyTimeoutMs,
    connectTimeoutMS: limits.dependencyTimeoutMs,
    heartbeatFrequencyMS: 2_000,
    waitQueueTimeoutMS: limits.dependencyTimeoutMs,
    writeConcern: { w: 'majority' },
    readPreference: 'primary',
  });
}

export async function disconnectMongo(): Promise<void> {
  await mongoose.disconnect();
}

/** Throws unless MongoDB answers. */
export async function pingMongo(): Promise<void> {
  await mongoose.connection.getClient().db().command({ ping: 1 }, { timeoutMS: limits.dependencyTimeoutMs });
}

/**
 * Runs `work` in one database transaction (snapshot reads, majority writes) and commits it.
 *
 * `work` can run several times: it must do nothing but database calls on its session, one after the other.
 * Transient conflicts run it again, an unknown commit result repeats the commit alone. Work that names the wallet
 * it changes takes turns with the other changes of that wallet in this process.
 * @throws UnknownCommitError if the outcome of the commit is not known: look the result up by its unique key.
 * @throws DependencyError when the deadline passes or MongoDB is away: nothing was written.
 */
export async function inTransaction<T>(
  work: (session: Session) => Promise<T>,
  options: { wallet?: string } = {},
): Promise<T> {
  return options.wallet === undefined
    ? runTransaction(work)
    : byWallet(options.wallet, () => runTransaction(work));
}

/** Changes of one wallet would only conflict with each other. */
const byWallet = takeTurns();

async function runTransaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
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
        throw isAway(error) ? new DependencyError(error) : error;
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

/** The commit was sent and its answer never came: it may or may not hold. */
export class UnknownCommitError extends DependencyError {}

async function commit(session: Session, deadline: number): Promise<void> {
  for (;;) {
    try {
      await session.commitTransaction();
      return;
    } catch (error) {
      if (!hasLabel(error, 'UnknownTransactionCommitResult')) {
        throw error;
      }
      if (nowMs() >= deadline) {
        throw new UnknownCommitError(error);
      }
      logger.warn('commit result unknown, asking again', { error });
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

function isTransient(error: unknown): boolean {
  return hasLabel(error, 'TransientTransactionError');
}

export function isDuplicateKey(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && error.code === 11000;
}

/** True for errors that say "MongoDB does not answer", as opposed to "it refused this". */
export function isAway(error: unknown): boolean {
  return (
    error instanceof Error &&
    (/^Mongo(Network|ServerSelection|NotConnected|PoolCleared|PoolClosed|WaitQueueTimeout|OperationTimeout|Topology)/.test(
      error.name,
    ) ||
      error.name === 'MongooseServerSelectionError' ||
      (error instanceof MongoError && error.hasErrorLabel('RetryableWriteError')))
  );
}
