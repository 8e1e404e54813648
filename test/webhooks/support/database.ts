import { connectMongo, disconnectMongo } from '../../../src/database/mongo.js';
import { migrate } from '../../../src/database/migrate.js';
import { closeQueues } from '../../../src/jobs/queues.js';
import { connectRedis, disconnectRedis } from '../../../src/redis/connection.js';
import { eventually } from '../../support/eventually.js';
import { deliveries } from '../../../src/webhooks/delivery.model.js';
import '../../../src/all-models.js';

/** Gives the tests of a file the real database and queues in this process, and leaves nothing to send behind. */
export function useDatabase(): void {
  before(async function () {
    this.timeout(40_000);
    // Beside others, a machine may keep the database from answering for longer than the service waits for it.
    await Promise.all([eventually('MongoDB to answer', isConnected, 30_000), connectRedis()]);
    await migrate();
  });
  after(async () => {
    await deliveries.deleteMany({ state: 'due' });
    await closeQueues();
    await disconnectRedis();
    await disconnectMongo();
  });
}

async function isConnected(): Promise<boolean> {
  try {
    await connectMongo();
    return true;
  } catch {
    await disconnectMongo();
    return false;
  }
}
