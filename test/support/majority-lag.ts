/** Delays the replication to a majority. Only the embedded database can simulate that. */
import { MongoClient } from 'mongodb';
import mongoose from 'mongoose';
import { env } from '../../config/env.js';
import { skipBecause } from './skip-because.js';

/**
 * Skips the tests if the server cannot simulate the faults of the embedded database. Call it in
 * `before`.
 */
export async function skipWithoutFaults(context: Mocha.Context): Promise<void> {
  const client = new MongoClient(env.MONGODB_URI);
  try {
    const { modules } = await client.db('admin').command({ buildInfo: 1 });
    if (!(modules as string[] | undefined)?.includes('embedded-mongo')) {
      skipBecause(context, 'only the embedded database can delay the majority');
    }
  } finally {
    await client.close();
  }
}

/**
 * Delays the majority acknowledgement of the next commit to a collection of the test's database.
 * @param ms The delay in milliseconds.
 */
export async function lagNextCommit(collection: string, ms: number): Promise<void> {
  const namespace = `${mongoose.connection.name}.${collection}`;
  await configureLag({ mode: { times: 1 }, data: { ms, namespace } });
}

/** Acknowledges all delayed commits immediately. */
export async function endLag(): Promise<void> {
  await configureLag({ mode: 'off' });
}

async function configureLag(options: { mode: 'off' | { times: number }; data?: object }): Promise<void> {
  const admin = mongoose.connection.getClient().db('admin');
  await admin.command({ configureFailPoint: 'majorityLag', ...options });
}
