import { connectMongo, disconnectMongo } from '../../../src/shared/mongo.js';
import { migrate } from '../../../src/shared/migrate.js';
import { closeQueues } from '../../../src/shared/queues.js';
import { connectRedis, disconnectRedis } from '../../../src/shared/redis.js';
import '../../../src/shared/all-models.js';

/** Gives the tests of a file the real database and queues in this process. */
export function useDatabase(): void {
  before(async () => {
    await Promise.all([connectMongo(), connectRedis()]);
    await migrate();
  });
  after(async () => {
    await closeQueues();
    disconnectRedis();
    await disconnectMongo();
  });
}
