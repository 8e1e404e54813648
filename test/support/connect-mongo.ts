import { connectMongo, disconnectMongo } from '../../src/database/mongo.js';
import { eventually } from './eventually.js';

/** Beside other files, a busy machine may keep the database from answering for longer than the service waits for it. */
export async function connectMongoWhenItAnswers(): Promise<void> {
  await eventually('MongoDB to answer', async () => {
    try {
      await connectMongo();
      return true;
    } catch (error) {
      await disconnectMongo();
      throw error;
    }
  });
}
