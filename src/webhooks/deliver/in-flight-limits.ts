import { limits } from '../../../config/limits.js';
import { webhookLimits } from '../webhook-limits.js';
import { env } from '../../../config/env.js';
import { redis } from '../../redis/connection.js';
import { logRedisError } from '../../redis/connection-errors.js';

export interface InFlightCounter {
  /** Requests under way in this process, those that outlived their turn included. */
  ofReceiver(receiverId: string): number;
  /**
   * How many more may start for this receiver without taking what belongs to others.
   * @param pace How many it may have under way, if nobody else were there.
   */
  roomFor(receiver: { receiverId: string; accountId: string; pace: number }): number;
  change(receiverId: string, accountId: string, by: 1 | -1): void;
}

/** Counts the requests under way in this process, by receiver, by account and in all. */
export function createInFlightCounter(): InFlightCounter {
  const byReceiver = new Map<string, number>();
  const byAccount = new Map<string, number>();
  let total = 0;
  /** Of the total, what receivers have beyond where each begins. */
  let earned = 0;

  const change = (map: Map<string, number>, key: string, by: number) => {
    const count = (map.get(key) ?? 0) + by;
    if (count === 0) {
      map.delete(key);
    } else {
      map.set(key, count);
    }
    return count;
  };
  return {
    ofReceiver: (receiverId) => byReceiver.get(receiverId) ?? 0,
    roomFor: ({ receiverId, accountId, pace }) => {
      const here = byReceiver.get(receiverId) ?? 0;
      const unearned = Math.max(0, limits.inFlightStart - here);
      return Math.min(
        pace - here,
        Math.max(webhookLimits.inFlightPerAccount, pace) - (byAccount.get(accountId) ?? 0),
        webhookLimits.inFlightPerProcess - total,
        unearned + Math.max(0, webhookLimits.earnedPerProcess - earned),
      );
    },
    change: (receiverId, accountId, by) => {
      const count = change(byReceiver, receiverId, by);
      change(byAccount, accountId, by);
      total += by;
      if (Math.max(count, count - by) > limits.inFlightStart) {
        earned += by;
      }
    },
  };
}

/**
 * How many requests a receiver may have under way, from the whole fleet: it begins with few, gets one more for each round
 * of good, quick answers, loses half when it is overloaded and all when it does not answer. One number in Redis, whichever
 * process asks; without Redis everybody begins anew.
 */

/** What its answers said of a receiver since the last time: `good` of them came while it had all it may. */
export type PaceNews = { good: number } | 'overloaded' | 'silent';

/** Where a receiver begins. @param most What it may have at most: fewer, if its account says so. */
export function getStartingPace(most: number): number {
  return Math.min(limits.inFlightStart, most);
}

/**
 * Tells what a receiver's answers said of it.
 * @returns how many requests it may have under way now; without Redis where it begins.
 */
export async function adjustPace(receiverId: string, most: number, news: PaceNews): Promise<number> {
  const start = getStartingPace(most);
  try {
    const word = typeof news === 'string' ? news : 'good';
    const good = typeof news === 'string' ? 0 : news.good;
    const pace = await redis().eval(
      paceScript,
      1,
      `${env.QUEUE_PREFIX}:pace:${receiverId}`,
      start,
      most,
      word,
      good,
      webhookLimits.paceKeptMs,
    );
    return Math.floor(Number(pace));
  } catch (error) {
    logRedisError('the pace of a receiver is not known', error);
    return start;
  }
}

/** A fraction is kept: answers that do not fill a round count towards the next. */
const paceScript = `
local start, most, good = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[4])
local kept = redis.call('get', KEYS[1])
local pace = tonumber(kept or start)
if ARGV[3] == 'silent' then
  pace = start
elseif ARGV[3] == 'overloaded' then
  pace = pace / 2
else
  while good >= pace and pace < most do
    good = good - pace
    pace = pace + 1
  end
  pace = pace + good / pace
end
pace = math.max(start, math.min(most, pace))
if pace > start then
  redis.call('set', KEYS[1], tostring(pace), 'px', ARGV[5])
elseif kept then
  redis.call('del', KEYS[1])
end
return tostring(pace)`;
