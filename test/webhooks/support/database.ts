import { disconnectMongo } from '../../../src/database/mongo.js';
import { migrate } from '../../../src/database/migrate.js';
import { closeQueues } from '../../../src/jobs/queues.js';
import { connectRedis, disconnectRedis } from '../../../src/redis/connection.js';
import { connectMongoWhenReady } from '../../support/connect-mongo.js';
import { deliveries } from '../../../src/webhooks/deliver/delivery.model.js';
import '../../../src/all-models.js';

/**
 * Connects the tests of a file to the database and queues. Removes due delivery rows at the end.
 */
export function useDatabase(): void {
  before(async () => {
    await Promise.all([connectMongoWhenReady(), connectRedis()]);
    await migrate();
  });
  after(async () => {
    await deliveries.deleteMany({ state: 'due' });
    await closeQueues();
    await disconnectRedis();
    await disconnectMongo();
  });
}
