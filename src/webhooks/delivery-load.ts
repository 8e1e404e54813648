import { webhookLimits } from './webhook-limits.js';

export interface Load {
  /** Requests under way in this process, those that outlived their turn included. */
  ofReceiver(receiverId: string): number;
  /** How many more may start for this receiver without taking what belongs to others. */
  roomFor(receiverId: string, accountId: string): number;
  change(receiverId: string, accountId: string, by: 1 | -1): void;
}

/** Counts the requests under way in this process, by receiver, by account and in all. */
export function createLoad(): Load {
  const byReceiver = new Map<string, number>();
  const byAccount = new Map<string, number>();
  let total = 0;

  const change = (map: Map<string, number>, key: string, by: number) => {
    const count = (map.get(key) ?? 0) + by;
    if (count === 0) {
      map.delete(key);
    } else {
      map.set(key, count);
    }
  };
  return {
    ofReceiver: (receiverId) => byReceiver.get(receiverId) ?? 0,
    roomFor: (receiverId, accountId) =>
      Math.min(
        webhookLimits.inFlightPerReceiver - (byReceiver.get(receiverId) ?? 0),
        webhookLimits.inFlightPerAccount - (byAccount.get(accountId) ?? 0),
        webhookLimits.inFlightPerProcess - total,
      ),
    change: (receiverId, accountId, by) => {
      change(byReceiver, receiverId, by);
      change(byAccount, accountId, by);
      total += by;
    },
  };
}
