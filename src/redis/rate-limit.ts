/** The only rate limiter. It counts events per window across all processes. */
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { env } from '../../config/env.js';
import { nowMs } from '../shared/clock.js';
import { DependencyError } from '../shared/errors.js';
import { batchCalls } from '../shared/concurrency.js';
import { boundedPttlLua } from './bounded-times.js';
import { redis } from './connection.js';
import { logRedisError } from './connection-errors.js';

export interface Limit {
  /** Number of accepted events per window. A window begins with its first event. */
  max: number;
  windowMs: number;
  /** True if another process may refund an event. Every event then queries Redis. */
  refunds?: true;
  /**
   * True if events are rejected with a DependencyError while Redis is unavailable, instead of being
   * counted locally.
   */
  needsRedis?: true;
}

export interface RateLimitResult {
  accepted: boolean;
  limit: number;
  remaining: number;
  /** Milliseconds until the window ends and the whole limit is available again. */
  resetMs: number;
}

interface Count {
  count: number;
  resetAt: number;
  /** True if the count is local. The next count goes to Redis as soon as Redis is available. */
  isOwn?: true;
}

/**
 * Milliseconds between two calls that probe an unavailable Redis. Other calls do not wait for it.
 */
const retryMs = 1_000;
/** Maximum milliseconds that a count in Redis may take. */
const redisTimeoutMs = 300;

/**
 * The last known counts. A full count rejects events without querying Redis. While Redis is
 * unavailable, counting continues here.
 */
const localCounts = new LRUCache<string, Count>({ max: 100_000 });
let isRedisDown = false;
let retryAt = 0;

/**
 * Counts one event of `key` in its window. The count is exact across processes, because it is one
 * atomic step in Redis. While Redis is unavailable, each process counts locally.
 * @throws DependencyError if the limit needs Redis and Redis is unavailable.
 */
export async function consumeRateLimit(key: string, limit: Limit): Promise<RateLimitResult> {
  const current = getCurrentCount(key, limit);
  if (current && current.isOwn !== true && current.count >= limit.max && limit.refunds !== true) {
    return buildResult(current, limit, false);
  }
  const answer = await countInRedis({ key, ...limit });
  if (answer) {
    const counted = { count: answer[0], resetAt: nowMs() + answer[1] };
    localCounts.set(key, { ...counted, count: Math.min(counted.count, limit.max) });
    return buildResult(counted, limit, counted.count <= limit.max);
  }
  if (limit.needsRedis === true) {
    throw new DependencyError(new Error('Counting in Redis timed out'));
  }
  return countLocally(key, limit);
}

/** Concurrent counts share a round trip. The result of each is null while Redis is unavailable. */
const countInRedis = batchCalls<Limit & { key: string }, [count: number, ttlMs: number] | null>({
  itemsMax: 200,
  async run(all) {
    // Send separate commands instead of a pipeline, because in a Cluster the keys may be on several
    // nodes.
    const replies = await tryRedis((client) =>
      Promise.all(all.map(({ key, max, windowMs }) => client.countInWindow(getRedisKey(key), max, windowMs))),
    );
    return replies ?? all.map(() => null);
  },
});

/** Refunds one event that must not count after all. */
export async function refundRateLimit(key: string): Promise<void> {
  const seen = localCounts.get(key);
  if (seen) {
    localCounts.set(key, { ...seen, count: Math.max(0, seen.count - 1) });
  }
  await tryRedis((client) => client.giveOneBack(getRedisKey(key)));
}

/** Resets the count of `key`. */
export async function resetRateLimit(key: string): Promise<void> {
  localCounts.delete(key);
  await tryRedis((client) => client.del(getRedisKey(key)));
}

/**
 * Returns the local count of the current window. A window that would end later than one that begins
 * now was counted before the clock was set back.
 */
function getCurrentCount(key: string, { windowMs }: Limit): Count | null {
  const seen = localCounts.get(key);
  const leftMs = seen ? seen.resetAt - nowMs() : 0;
  return seen && leftMs > 0 && leftMs <= windowMs ? seen : null;
}

function getRedisKey(key: string): string {
  return `${env.QUEUE_PREFIX}:${key}`;
}

function buildResult({ count, resetAt }: Count, { max }: Limit, accepted: boolean): RateLimitResult {
  return {
    accepted,
    limit: max,
    remaining: Math.max(0, max - count),
    resetMs: Math.max(1, resetAt - nowMs()),
  };
}

/**
 * Reads the local count again, because other calls may have counted while this call waited for
 * Redis.
 */
function countLocally(key: string, limit: Limit): RateLimitResult {
  const current = getCurrentCount(key, limit) ?? { count: 0, resetAt: nowMs() + limit.windowMs };
  const accepted = current.count < limit.max;
  const count = accepted ? current.count + 1 : current.count;
  const after: Count = { count, resetAt: current.resetAt, isOwn: true };
  localCounts.set(key, after);
  return buildResult(after, limit, accepted);
}

/** @returns Null while Redis is unavailable. */
async function tryRedis<T>(ask: (client: Redis & Counter) => Promise<T>): Promise<T | null> {
  if (isRedisDown && performance.now() < retryAt) {
    return null;
  }
  retryAt = performance.now() + retryMs;
  try {
    const answer = await withRedisTimeout(ask(getCounterConnection()));
    isRedisDown = false;
    return answer;
  } catch (error) {
    logRedisError('rate limits cannot be counted in redis', error);
    isRedisDown = true;
    return null;
  }
}

/** Rejects after `redisTimeoutMs`, but first reads replies that have already arrived. */
function withRedisTimeout<T>(answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      setImmediate(() => {
        setImmediate(() => {
          reject(new Error('Counting in Redis timed out'));
        });
      });
    }, redisTimeoutMs);
    answer.then(resolve, reject).finally(() => {
      clearTimeout(timer);
    });
  });
}

interface Counter {
  countInWindow(key: string, max: number, windowMs: number): Promise<[count: number, ttlMs: number]>;
  giveOneBack(key: string): Promise<unknown>;
}

/** Refused events are not counted, so that after a raised limit only accepted events count. */
const countScript = `${boundedPttlLua}
local count = redis.call('incr', KEYS[1])
local ttl = boundedPttl(KEYS[1], ARGV[2])
if ttl < 0 then
  redis.call('pexpire', KEYS[1], ARGV[2])
  ttl = tonumber(ARGV[2])
end
if count > tonumber(ARGV[1]) then
  redis.call('decr', KEYS[1])
end
return {count, ttl}`;

/**
 * The count never falls below 0, because a negative count would allow more events than the limit.
 */
const refundScript = `
if tonumber(redis.call('get', KEYS[1]) or 0) > 0 then
  redis.call('decr', KEYS[1])
end`;

function getCounterConnection(): Redis & Counter {
  const connection: Redis & Partial<Counter> = redis();
  if (!connection.countInWindow) {
    connection.defineCommand('countInWindow', { numberOfKeys: 1, lua: countScript });
    connection.defineCommand('giveOneBack', { numberOfKeys: 1, lua: refundScript });
  }
  return connection as Redis & Counter;
}
