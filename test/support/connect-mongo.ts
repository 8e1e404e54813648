import { connectMongo, disconnectMongo } from '../../src/database/mongo.js';
import { eventually } from './eventually.js';

/**
 * Connects to MongoDB with retries: on a busy machine it may take longer to answer than the service
 * waits.
 */
export async function connectMongoWhenItAnswers(): Promise<void> {
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
