import { limits } from '../../../config/limits.js';
import { webhookLimits } from '../webhook-limits.js';
import { env } from '../../../config/env.js';
import { redis } from '../../redis/connection.js';
import { logRedisError } from '../../redis/connection-errors.js';

export interface InFlightCounter {
  /**
   * Requests to the receiver in flight in this process, including those that outlived their turn.
   */
  ofReceiver(receiverId: string): number;
  /**
   * Returns how many more requests to this receiver may start.
   * @param pace The receiver's own limit.
   */
  roomFor(receiver: { receiverId: string; accountId: string; pace: number }): number;
  change(receiverId: string, accountId: string, by: 1 | -1): void;
}

/** Creates a counter of requests in flight in this process, by receiver, account and in total. */
export function createInFlightCounter(): InFlightCounter {
  const byReceiver = new Map<string, number>();
  const byAccount = new Map<string, number>();
  let total = 0;
  /** Requests in flight above the starting pace of their receiver. */
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
 * What the responses since the last report say about a receiver's load. `good` counts successful
 * responses at full pace.
 */
export type PaceFeedback = { good: number } | 'overloaded' | 'silent';

/**
 * Returns the starting pace of a receiver.
 * @param most The account's limit, which may be lower.
 */
export function getStartingPace(most: number): number {
  return Math.min(limits.inFlightStart, most);
}

/**
 * Reports news of a receiver and returns its pace: the limit of concurrent requests across all
 * processes. It starts low, rises by one per round of successful, quick responses, halves on
 * overload, and returns to its start after a timeout.
 *
 * One number in Redis is shared by all processes.
 * @returns The pace. If Redis is unavailable, the starting pace.
 */
export async function adjustPace(receiverId: string, most: number, news: PaceFeedback): Promise<number> {
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
    logRedisError('pace of a receiver could not be read', error);
    return start;
  }
}

/** The pace is fractional: responses that do not complete a round count towards the next one. */
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
