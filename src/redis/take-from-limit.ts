/** The one rate limiter: counts what happens in a window of time, over all web processes together. */
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { env } from '../../config/env.js';
import { nowMs } from '../shared/clock.js';
import { DependencyError } from '../shared/errors.js';
import { gathered } from '../shared/gathered.js';
import { redis } from './connection.js';
import { sayRedisError } from './say-error.js';

export interface Limit {
  /** How many are accepted in a window, which begins with the first. */
  max: number;
  windowMs: number;
  /** What is used up may be given back by another process, so Redis is asked every time. */
  refunds?: true;
  /** While Redis is away nothing is accepted, with a DependencyError: no process counts by itself. */
  needsRedis?: true;
}

export interface Taken {
  accepted: boolean;
  limit: number;
  remaining: number;
  /** Until the window is over and all of the limit is there again. */
  resetMs: number;
}

interface Count {
  count: number;
  resetAt: number;
  /** This process counted by itself: Redis is asked as soon as it is back. */
  isOwn?: true;
}

/** While Redis is away, one call in this time finds out whether it is back; no other waits for it. */
const retryMs = 1_000;
/** A count is worth no longer wait. */
const patienceMs = 300;

/** What this process knows of each key: refuses what Redis would refuse without asking it, and counts on while it is away. */
const known = new LRUCache<string, Count>({ max: 100_000 });
let redisIsAway = false;
let retryAt = 0;

/**
 * Takes one of what `key` has in a window. Exact over all processes: the count is one atomic step in Redis. While
 * Redis is away each process counts for itself.
 * @throws DependencyError instead, for a limit that needs Redis.
 */
export async function takeFromLimit(key: string, limit: Limit): Promise<Taken> {
  const seen = known.get(key);
  const current = seen && seen.resetAt > nowMs() ? seen : null;
  if (current && current.isOwn !== true && current.count >= limit.max && limit.refunds !== true) {
    return taken(current, limit, false);
  }
  const answer = await countInRedis({ key, ...limit });
  if (answer) {
    const counted = { count: answer[0], resetAt: nowMs() + answer[1] };
    known.set(key, { ...counted, count: Math.min(counted.count, limit.max) });
    return taken(counted, limit, counted.count <= limit.max);
  }
  if (limit.needsRedis === true) {
    throw new DependencyError(new Error('Redis did not count in time'));
  }
  return countHere(key, limit);
}

/** Those that are counted at the same time share a round trip. Null for each while Redis is away. */
const countInRedis = gathered<Limit & { key: string }, [count: number, ttlMs: number] | null>({
  itemsMax: 200,
  async run(all) {
    // Written at once, and not as a pipeline: in a Cluster the keys may be on several nodes.
    const replies = await askRedis((client) =>
      Promise.all(all.map(({ key, max, windowMs }) => client.countInWindow(redisKeyOf(key), max, windowMs))),
    );
    return replies ?? all.map(() => null);
  },
});

/** Takes one back: what was taken turned out not to count. */
export async function giveBack(key: string): Promise<void> {
  const seen = known.get(key);
  if (seen) {
    known.set(key, { ...seen, count: Math.max(0, seen.count - 1) });
  }
  await askRedis((client) => client.giveOneBack(redisKeyOf(key)));
}

/** All of the limit is there again. */
export async function forgetTaken(key: string): Promise<void> {
  known.delete(key);
  await askRedis((client) => client.del(redisKeyOf(key)));
}

function redisKeyOf(key: string): string {
  return `${env.QUEUE_PREFIX}:${key}`;
}

function taken({ count, resetAt }: Count, { max }: Limit, accepted: boolean): Taken {
  return {
    accepted,
    limit: max,
    remaining: Math.max(0, max - count),
    resetMs: Math.max(1, resetAt - nowMs()),
  };
}

/** Read again, not the entry that was current before Redis was asked: others may have counted meanwhile. */
function countHere(key: string, limit: Limit): Taken {
  const seen = known.get(key);
  const current = seen && seen.resetAt > nowMs() ? seen : { count: 0, resetAt: nowMs() + limit.windowMs };
  const accepted = current.count < limit.max;
  const count = accepted ? current.count + 1 : current.count;
  const after: Count = { count, resetAt: current.resetAt, isOwn: true };
  known.set(key, after);
  return taken(after, limit, accepted);
}

/** @returns null while Redis is away. */
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
    sayRedisError('redis does not count', error);
    redisIsAway = true;
    return null;
  }
}

/** Rejects after `patienceMs`, but not before the answers that have already arrived were read. */
function inTime<T>(answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      setImmediate(() => {
        setImmediate(() => {
          reject(new Error('Redis did not count in time'));
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

/** What is refused is not counted, so that a limit that is raised counts from what was accepted. */
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

/** A window that is over stays over: a count below 0 would be room for more. */
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
