import { connectMongo, disconnectMongo } from '../../src/database/mongo.js';
import { eventually } from './eventually.js';

/**
 * Connects to MongoDB with retries. On a busy machine MongoDB may respond later than the service
 * would wait.
 */
export async function connectMongoWhenReady(): Promise<void> {
  await eventually('MongoDB answers', async () => {
    try {
      await connectMongo();
      return true;
    } catch (error) {
      await disconnectMongo();
      throw error;
    }
  });
}
