/** Counts what happens in a minute, over all web processes together. */
import type { Redis } from 'ioredis';
import { env } from '../../config/env.js';
import { nowMs } from '../shared/clock.js';
import { redis } from './connection.js';

export interface Taken {
  accepted: boolean;
  limit: number;
  remaining: number;
  /** Until the minute is over and all of the limit is there again. */
  resetMs: number;
}

interface Count {
  count: number;
  resetAt: number;
}

const windowMs = 60_000;
const entriesMax = 100_000;
/** While Redis is away, one call in this time finds out whether it is back; no other waits for it. */
const retryMs = 1_000;
/** A count is worth no longer wait. */
const patienceMs = 300;

/** What this process knows of each key: refuses without asking Redis, and counts on while Redis is away. */
const known = new Map<string, Count>();
let redisIsAway = false;
let retryAt = 0;

/**
 * Takes one of the `limit` that `key` has in a minute; the minute begins with the first. Exact over all processes:
 * the count is one atomic step in Redis. While Redis is away each process counts for itself.
 */
export async function takeFromMinute(key: string, limit: number): Promise<Taken> {
  const seen = known.get(key);
  const current = seen && seen.resetAt > nowMs() ? seen : null;
  if (current && current.count >= limit) {
    return taken(current, limit, false);
  }
  const counted = await countInRedis(key, limit);
  if (counted) {
    remember(key, { count: Math.min(counted.count, limit), resetAt: counted.resetAt });
    return taken(counted, limit, counted.count <= limit);
  }
  return countHere(key, limit);
}

function taken({ count, resetAt }: Count, limit: number, accepted: boolean): Taken {
  return { accepted, limit, remaining: Math.max(0, limit - count), resetMs: Math.max(1, resetAt - nowMs()) };
}

/** Read again, not the entry that was current before Redis was asked: others may have counted meanwhile. */
function countHere(key: string, limit: number): Taken {
  const seen = known.get(key);
  const current = seen && seen.resetAt > nowMs() ? seen : { count: 0, resetAt: nowMs() + windowMs };
  const accepted = current.count < limit;
  const after = { count: accepted ? current.count + 1 : current.count, resetAt: current.resetAt };
  remember(key, after);
  return taken(after, limit, accepted);
}

function remember(key: string, count: Count): void {
  if (known.size >= entriesMax && !known.has(key)) {
    known.clear();
  }
  known.set(key, count);
}

async function countInRedis(key: string, limit: number): Promise<Count | null> {
  if (redisIsAway && nowMs() < retryAt) {
    return null;
  }
  retryAt = nowMs() + retryMs;
  try {
    const answer = counter().countInWindow(`${env.QUEUE_PREFIX}:${key}`, limit, windowMs);
    const [count, ttlMs] = await inTime(answer);
    redisIsAway = false;
    return { count, resetAt: nowMs() + ttlMs };
  } catch {
    // The connection itself reports the outage, once.
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
  countInWindow(key: string, limit: number, windowMs: number): Promise<[count: number, ttlMs: number]>;
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

function counter(): Counter {
  const connection: Redis & Partial<Counter> = redis();
  if (!connection.countInWindow) {
    connection.defineCommand('countInWindow', { numberOfKeys: 1, lua: countInWindow });
  }
  return connection as Redis & Counter;
}
