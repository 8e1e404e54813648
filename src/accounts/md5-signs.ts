/**
 * Counts md5 signs per day (docs/reference/api/reseller.md#reseller-sign). Operators use the counts
 * to move accounts to HMAC. Each day is a sorted set in Redis. If it is lost, only this statistic
 * is lost.
 */
import type { Redis } from 'ioredis';
import { env } from '../../config/env.js';
import { redis } from '../redis/connection.js';
import { formatBusinessDay, addDays } from '../shared/business-time.js';
import { now } from '../shared/clock.js';
import { batchCalls } from '../shared/concurrency.js';

export const md5DaysShown = 30;
const retentionS = 35 * 86_400;
/** Number of accounts read per day. */
const topSignersMax = 100;

/** Counts one sign in the background. Concurrent calls share a round trip to Redis. */
export function countMd5Sign(accountId: string): void {
  addToCounters(accountId).catch(() => undefined);
}

const addToCounters = batchCalls<string, undefined>({
  itemsMax: 1_000,
  async run(accountIds) {
    const key = buildDayKey(formatBusinessDay(now()));
    const counts = new Map<string, number>();
    for (const id of accountIds) {
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    const pipeline = redis().pipeline();
    counts.forEach((count, id) => pipeline.zincrby(key, count, id));
    await pipeline.expire(key, retentionS).exec();
    return accountIds.map(() => undefined);
  },
});

/**
 * Returns how many md5 signs each account sent in the last 30 days, in the order of `accountIds`.
 * Null if Redis is unavailable.
 */
export async function getMd5SignCounts(accountIds: readonly string[]): Promise<number[] | null> {
  if (accountIds.length === 0) {
    return [];
  }
  const days = await readEachDay((client, key) => client.zmscore(key, ...accountIds));
  return (
    days && accountIds.map((_, index) => days.reduce((sum, scores) => sum + Number(scores[index] ?? 0), 0))
  );
}

/**
 * Finds the accounts with the most md5 signs in the last 30 days. It reads only the 100 busiest
 * accounts of each day. Null if Redis is unavailable.
 */
export async function findTopMd5Signers(): Promise<{ accountId: string; signs: number }[] | null> {
  const days = await readEachDay((client, key) => client.zrevrange(key, 0, topSignersMax - 1, 'WITHSCORES'));
  if (!days) {
    return null;
  }
  const sums = new Map<string, number>();
  for (const busiest of days) {
    for (let at = 0; at + 1 < busiest.length; at += 2) {
      const id = busiest[at] ?? '';
      sums.set(id, (sums.get(id) ?? 0) + Number(busiest[at + 1]));
    }
  }
  return [...sums].map(([accountId, signs]) => ({ accountId, signs })).sort((a, b) => b.signs - a.signs);
}

/**
 * Sends separate commands instead of a pipeline, because in a Cluster the days may be on several
 * nodes.
 */
async function readEachDay<T>(ask: (client: Redis, key: string) => Promise<T>): Promise<T[] | null> {
  const today = formatBusinessDay(now());
  const keys = Array.from({ length: md5DaysShown }, (_, back) => buildDayKey(addDays(today, -back)));
  return Promise.all(keys.map((key) => ask(redis(), key))).catch(() => null);
}

function buildDayKey(day: string): string {
  return `${env.QUEUE_PREFIX}:md5-signs:${day}`;
}
