/** Calls to a Redis server that may not be ready yet. */
import { Redis } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';

const connectTimeoutMs = 2_000;
const retryMs = 50;

/**
 * Resolves when the server accepts commands. While the server reads its files, it responds with
 * LOADING. Rejects with the last error.
 */
export async function waitForRedis(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await withRedis(url, (redis) => redis.ping());
      return;
    } catch (error) {
      if (signal.aborted) {
        throw error;
      }
    }
    await delay(retryMs);
  }
}

/** @returns The version. Rejects at once if no server accepts commands. */
export async function redisVersion(url: string): Promise<string> {
  const about = await withRedis(url, (redis) => redis.info('server'));
  return /redis_version:(\S+)/.exec(about)?.[1] ?? '';
}

/** True if the server holds keys with this prefix. */
export async function hasKeys(url: string, prefix: string): Promise<boolean> {
  return withRedis(url, async (redis) => {
    for (let cursor = '0'; ;) {
      const [next, keys] = await redis.scan(cursor, 'MATCH', `${prefix}:*`, 'COUNT', 1_000);
      if (keys.length > 0 || next === '0') {
        return keys.length > 0;
      }
      cursor = next;
    }
  });
}

/** Returns warnings about risky settings of a server that we did not start. */
export async function checkRedis(url: string): Promise<string[]> {
  // A hosted Redis may refuse CONFIG. Its operator is then responsible for the setting.
  const [, policy] = await withRedis(url, (redis) => redis.config('GET', 'maxmemory-policy')).catch(() => []);
  return typeof policy !== 'string' || policy === 'noeviction'
    ? []
    : [`maxmemory-policy is ${policy}: Redis may evict queued jobs when memory runs out; set noeviction`];
}

async function withRedis<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: connectTimeoutMs,
    commandTimeout: connectTimeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: null,
    enableReadyCheck: false,
  });
  const reasons: Error[] = [];
  redis.on('error', (error: Error) => reasons.push(error));
  try {
    await redis.connect();
    return await work(redis);
  } catch (error) {
    // The connection's error is more precise than "Connection is closed".
    throw reasons[0] ?? error;
  } finally {
    redis.disconnect();
  }
}
