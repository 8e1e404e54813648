import { findService } from './find-service.js';

const redisWaitMs = 2_000;

/**
 * Connects to the running copy's databases, does the work, and disconnects, so that the process can end.
 * @param toleratesOutage The work is done even if MongoDB does not answer.
 */
export async function withService<T>(work: () => Promise<T>, toleratesOutage: boolean): Promise<T> {
  findService(process.env);
  const [mongo, redis, queues] = await Promise.all([
    import('../../src/database/mongo.js'),
    import('../../src/redis/connection.js'),
    import('../../src/jobs/queues.js'),
    import('../../src/all-models.js'),
  ]);
  try {
    const [mongodb] = await Promise.allSettled([mongo.connectMongo(), redis.connectRedis(redisWaitMs)]);
    // Commands that need Redis say so themselves; the others work without it.
    if (mongodb.status === 'rejected' && !toleratesOutage) {
      throw mongodb.reason;
    }
    return await work();
  } finally {
    await queues.closeQueues();
    await redis.disconnectRedis();
    await mongo.disconnectMongo();
  }
}
