/** The only rate limiter: counts events per window across all processes. */
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { env } from '../../config/env.js';
import { nowMs } from '../shared/clock.js';
import { DependencyError } from '../shared/errors.js';
import { batchCalls } from '../shared/concurrency.js';
import { redis } from './connection.js';
import { logRedisError } from './connection-errors.js';

export interface Limit {
  /** Accepted events per window. The window begins with its first event. */
  max: number;
  windowMs: number;
  /** Another process may refund an event, so Redis is asked every time. */
  refunds?: true;
  /**
   * While Redis is unavailable, events are rejected with a DependencyError, not counted locally.
   */
  needsRedis?: true;
}

export interface Taken {
  accepted: boolean;
  limit: number;
  remaining: number;
  /** Milliseconds until the window ends and the whole limit is available again. */
  resetMs: number;
}

interface Count {
  count: number;
  resetAt: number;
  /** Counted locally: Redis is asked as soon as it is back. */
  isOwn?: true;
}

/** While Redis is unavailable, one call per interval probes it; the others do not wait. */
const retryMs = 1_000;
/** Milliseconds that a count may take. */
const patienceMs = 300;

/**
 * Last known counts. They reject events without asking Redis, and continue while Redis is
 * unavailable.
 */
const known = new LRUCache<string, Count>({ max: 100_000 });
let redisIsAway = false;
let retryAt = 0;

/**
 * Counts one event of `key` in its window. Exact across processes, because the count is one atomic
 * step in Redis. While Redis is unavailable each process counts locally.
 * @throws DependencyError while Redis is unavailable, if the limit needs Redis.
 */
export async function consumeRateLimit(key: string, limit: Limit): Promise<Taken> {
  const seen = known.get(key);
  const current = seen && seen.resetAt > nowMs() ? seen : null;
  if (current && current.isOwn !== true && current.count >= limit.max && limit.refunds !== true) {
    return buildTaken(current, limit, false);
  }
  const answer = await countInRedis({ key, ...limit });
  if (answer) {
    const counted = { count: answer[0], resetAt: nowMs() + answer[1] };
    known.set(key, { ...counted, count: Math.min(counted.count, limit.max) });
    return buildTaken(counted, limit, counted.count <= limit.max);
  }
  if (limit.needsRedis === true) {
    throw new DependencyError(new Error('Counting in Redis timed out'));
  }
  return countHere(key, limit);
}

/** Concurrent counts share a round trip. Null for each while Redis is unavailable. */
const countInRedis = batchCalls<Limit & { key: string }, [count: number, ttlMs: number] | null>({
  itemsMax: 200,
  async run(all) {
    // Separate commands rather than a pipeline: in a Cluster the keys may be on several nodes.
    const replies = await askRedis((client) =>
      Promise.all(all.map(({ key, max, windowMs }) => client.countInWindow(getRedisKey(key), max, windowMs))),
    );
    return replies ?? all.map(() => null);
  },
});

/** Refunds one event that turned out not to count. */
export async function refundRateLimit(key: string): Promise<void> {
  const seen = known.get(key);
  if (seen) {
    known.set(key, { ...seen, count: Math.max(0, seen.count - 1) });
  }
  await askRedis((client) => client.giveOneBack(getRedisKey(key)));
}

/** Resets the count of `key`. */
export async function resetRateLimit(key: string): Promise<void> {
  known.delete(key);
  await askRedis((client) => client.del(getRedisKey(key)));
}

function getRedisKey(key: string): string {
  return `${env.QUEUE_PREFIX}:${key}`;
}

function buildTaken({ count, resetAt }: Count, { max }: Limit, accepted: boolean): Taken {
  return {
    accepted,
    limit: max,
    remaining: Math.max(0, max - count),
    resetMs: Math.max(1, resetAt - nowMs()),
  };
}

/** Reads the count again, because other calls may have counted while Redis was asked. */
function countHere(key: string, limit: Limit): Taken {
  const seen = known.get(key);
  const current = seen && seen.resetAt > nowMs() ? seen : { count: 0, resetAt: nowMs() + limit.windowMs };
  const accepted = current.count < limit.max;
  const count = accepted ? current.count + 1 : current.count;
  const after: Count = { count, resetAt: current.resetAt, isOwn: true };
  known.set(key, after);
  return buildTaken(after, limit, accepted);
}

/** @returns null while Redis is unavailable. */
async function askRedis<T>(ask: (client: Redis & Counter) => Promise<T>): Promise<T | null> {
  if (redisIsAway && nowMs() < retryAt) {
    return null;
  }
  retryAt = nowMs() + retryMs;
  try {
    const answer = await inTime(ask(counter()));
    redisIsAway = false;
    return answer;
  } catch (error) {
    logRedisError('rate limits cannot be counted in redis', error);
    redisIsAway = true;
    return null;
  }
}

/** Rejects after `patienceMs`, but reads answers that have already arrived first. */
function inTime<T>(answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      setImmediate(() => {
        setImmediate(() => {
          reject(new Error('Counting in Redis timed out'));
        });
      });
    }, patienceMs);
    answer.then(resolve, reject).finally(() => {
      clearTimeout(timer);
    });
  });
}

interface Counter {
  countInWindow(key: string, max: number, windowMs: number): Promise<[count: number, ttlMs: number]>;
  giveOneBack(key: string): Promise<unknown>;
}

/** Refused events are not counted, so that a raised limit continues from the accepted ones. */
const countInWindow = `
local count = redis.call('incr', KEYS[1])
local ttl = redis.call('pttl', KEYS[1])
if ttl < 0 then
  redis.call('pexpire', KEYS[1], ARGV[2])
  ttl = tonumber(ARGV[2])
end
if count > tonumber(ARGV[1]) then
  redis.call('decr', KEYS[1])
end
return {count, ttl}`;

/** Never goes below 0: a negative count would allow more than the limit. */
const giveOneBack = `
if tonumber(redis.call('get', KEYS[1]) or 0) > 0 then
  redis.call('decr', KEYS[1])
end`;

function counter(): Redis & Counter {
  const connection: Redis & Partial<Counter> = redis();
  if (!connection.countInWindow) {
    connection.defineCommand('countInWindow', { numberOfKeys: 1, lua: countInWindow });
    connection.defineCommand('giveOneBack', { numberOfKeys: 1, lua: giveOneBack });
  }
  return connection as Redis & Counter;
}
