import { connectMongo, disconnectMongo } from '../../../src/shared/mongo.js';
import { migrate } from '../../../src/shared/migrate.js';
import { closeQueues } from '../../../src/shared/queues.js';
import { connectRedis, disconnectRedis } from '../../../src/shared/redis.js';
import { deliveries } from '../../../src/webhooks/delivery.model.js';
import '../../../src/shared/all-models.js';

/** Gives the tests of a file the real database and queues in this process, and leaves nothing to send behind. */
export function useDatabase(): void {
  before(async () => {
    await Promise.all([connectMongo(), connectRedis()]);
    await migrate();
  });
  after(async () => {
    await deliveries.deleteMany({ state: 'due' });
    await closeQueues();
    await disconnectRedis();
    await disconnectMongo();
  });
}
