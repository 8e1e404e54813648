import { Redis } from 'ioredis';
import { resolve } from '../scripts/resolver.js';

export interface PrivateRedis {
  url: string;
  /** Deletes all data in the database. */
  empty(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a private Redis server. Finds its program as `npm start` does. */
export async function startPrivateRedis(): Promise<PrivateRedis> {
  const { database, refusal, stop } = await resolve('redis', {
    env: { ...process.env, REDIS_URL: '' },
  });
  if (database === null) {
    throw new Error(refusal);
  }
  const redis = new Redis(database.url);
  return {
    url: database.url,
    async empty() {
      await redis.flushall();
    },
    async stop() {
      redis.disconnect();
      await stop();
    },
  };
}
