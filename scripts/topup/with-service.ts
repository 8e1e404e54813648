import { withTimeout } from '../../src/shared/concurrency.js';
import { findService } from './find-service.js';
import { writeTimesBy } from './format.js';
import { toError, toOutageError } from './outage.js';

const redisWaitMs = 2_000;

/**
 * Connects to the copy's databases, runs the work and disconnects, so that the process can exit.
 * The command reports errors itself, so the logger is silent.
 * @param toleratesOutage True to run the work even if MongoDB does not respond.
 * @throws OutageError for errors caused by a missing or outdated database.
 */
export async function withService<T>(work: () => Promise<T>, toleratesOutage: boolean): Promise<T> {
  findService(process.env);
  const [
    mongo,
    redis,
    queues,
    { requireRedisVersion },
    { keepFleetClock },
    { logger },
    { formatBusinessTime },
  ] = await Promise.all([
    import('../../src/database/mongo.js'),
    import('../../src/redis/connection.js'),
    import('../../src/jobs/queues.js'),
    import('../../src/redis/server-health.js'),
    import('../../src/redis/fleet-clock.js'),
    import('../../src/shared/logger.js'),
    import('../../src/shared/business-time.js'),
    import('../../src/all-models.js'),
  ]);
  logger.silent = true;
  writeTimesBy(formatBusinessTime);
  const clock = keepFleetClock();
  const [mongodb] = await Promise.allSettled([
    mongo.connectMongo({ anyVersion: toleratesOutage }),
    withTimeout(redisWaitMs, clock.measured, () => new Error('Reading the time of Redis timed out')),
  ]);
  const connecting: unknown = mongodb.status === 'rejected' ? mongodb.reason : null;
  try {
    if (!toleratesOutage) {
      if (connecting !== null) {
        throw toError(connecting);
      }
      // Commands that need Redis report that it is missing. Other commands work without it.
      await requireRedisVersion();
    }
    // Uses the clock that all processes share, because the clock of the operator's machine may be
    // wrong.
    await clock.goBy(mongo.getMongodbTime).catch(() => undefined);
    return await work();
  } catch (error) {
    throw await toOutageError(error, connecting);
  } finally {
    await clock.stop();
    await queues.closeQueues();
    await redis.disconnectRedis();
    await mongo.disconnectMongo();
  }
}
