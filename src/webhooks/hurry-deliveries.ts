import { now } from '../shared/clock.js';
import { giveTurns } from './announce-deliveries.js';
import { getImmediateDueTime } from './due-at-once.js';
import { deliveries } from './delivery.model.js';
import { receivers } from './receiver.model.js';

/**
 * Sends what an account's receivers would get later now, in place of waiting for the schedule: the next attempt of each row, which
 * counts as that attempt. What a worker has under way is left to it; a receiver that was left alone for its failures is tried.
 * A second call finds nothing to do. @returns how many rows.
 */
export async function hurryDeliveries(accountId: string): Promise<number> {
  const at = now();
  const mine = { accountId, state: 'due' as const, leaseToken: null };
  await receivers.updateMany(
    { accountId, disabledAt: null, openUntil: { $gt: at } },
    { $set: { openUntil: at } },
  );
  const { modifiedCount } = await deliveries.updateMany(
    { ...mine, nextAttemptAt: { $gt: at } },
    { $set: { nextAttemptAt: getImmediateDueTime() } },
  );
  await giveTurns(await deliveries.distinct('receiverId', { ...mine, nextAttemptAt: { $lte: at } }));
  return modifiedCount;
}
