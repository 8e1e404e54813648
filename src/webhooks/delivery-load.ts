import { limits } from '../../config/limits.js';
import { webhookLimits } from './webhook-limits.js';

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
