/** Connections to Redis. Producers fail fast, so that a request never waits for Redis; workers wait for it for ever. */
import { Redis } from 'ioredis';
import { env } from '../../config/env.js';
import { logger } from '../shared/logger.js';

let producer: Redis | null = null;

/** The connection of this process for everything but workers. Commands fail at once while Redis is away. */
export function redis(): Redis {
  producer ??= watch(
    new Redis(env.REDIS_URL, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 1,
      connectTimeout: 1_000,
      commandTimeout: 1_000,
      retryStrategy: (times) => Math.min(1_000, 50 * times),
    }),
  );
  return producer;
}

/** A connection for one BullMQ worker: blocking commands wait through any outage. */
export function newWorkerConnection(): Redis {
  return watch(
    new Redis(env.REDIS_URL, {
      maxRetriesPerRequest: null,
      retryStrategy: (times) => Math.min(1_000, 50 * times),
    }),
  );
}

/** Resolves when the producer connection can take commands; rejects after the time given. */
export async function connectRedis(timeoutMs = 10_000): Promise<void> {
  const connection = redis();
  if (connection.status === 'ready') {
    return;
  }
  await new Promise<void>((resolve, reject) => {
    const onReady = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      connection.off('ready', onReady);
      reject(new Error(`Redis did not answer within ${timeoutMs} ms`));
    }, timeoutMs);
    connection.once('ready', onReady);
  });
}

/** Throws unless Redis answers. */
export async function pingRedis(): Promise<void> {
  await redis().ping();
}

/** Says goodbye if Redis is there, and closes the connection in any case. */
export async function disconnectRedis(): Promise<void> {
  await producer?.quit().catch(() => producer?.disconnect());
  producer = null;
}

/** An outage is one line when it starts and one when it ends, not one a retry. */
function watch(connection: Redis): Redis {
  let away = false;
  connection.on('error', (error: Error) => {
    if (!away) {
      away = true;
      logger.error('redis is away', { error });
    }
  });
  connection.on('ready', () => {
    if (away) {
      away = false;
      logger.info('redis is back');
    }
  });
  return connection;
}
