import { findService } from './find-service.js';

/** Connects to the running copy's databases, does the work, and disconnects, so that the process can end. */
export async function withService<T>(work: () => Promise<T>): Promise<T> {
  findService(process.env);
  const [mongo, redis, queues] = await Promise.all([
    import('../../src/shared/mongo.js'),
    import('../../src/shared/redis.js'),
    import('../../src/shared/queues.js'),
    import('../../src/shared/all-models.js'),
  ]);
  try {
    await Promise.all([
      mongo.connectMongo(),
      // Commands that need Redis say so themselves; the others work without it.
      redis.connectRedis(2_000).catch(() => undefined),
    ]);
    return await work();
  } finally {
    await queues.closeQueues();
    redis.disconnectRedis();
    await mongo.disconnectMongo();
  }
}
