import { nowMs } from '../../shared/clock.js';
import { enqueueStatusCheck, sweepAfter } from './enqueue-purchase.js';
import { finalStatuses } from '../states.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';

/**
 * Puts a purchase aside for `wantedDelayMs`; it is due at once if that is in the past. First in MongoDB, where the
 * sweeper finds it whatever happens to Redis, then as a delayed job. Running it twice adds at most one job, because
 * the job's id is made of the due time.
 */
export async function postpone(purchase: Purchase, wantedDelayMs: number): Promise<void> {
  // After a time-out the schedule's moment has often passed already; BullMQ refuses a negative delay.
  const delayMs = Math.max(0, wantedDelayMs);
  const dueMs = nowMs() + delayMs;
  await PurchaseModel.updateOne(
    { _id: purchase._id, status: { $nin: [...finalStatuses] } },
    { $set: { nextActionAt: sweepAfter(purchase.epoch, dueMs) } },
  );
  await enqueueStatusCheck(purchase, { check: dueMs, delayMs });
}
