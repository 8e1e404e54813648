import { nowMs } from '../../shared/clock.js';
import { tryToAddJob } from '../../jobs/add-job.js';
import { finalStatuses } from '../states.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';
import { askProviderJob } from './ask-provider.job.js';
import { sweepAfter } from './purchase-outbox.js';

/**
 * Puts a purchase aside for `wantedDelayMs`; it is due at once if that is in the past. First in MongoDB, where the
 * sweep finds it whatever happens to Redis, then as a delayed job.
 */
export async function postpone(purchase: Purchase, wantedDelayMs: number): Promise<void> {
  const { _id, accountId } = purchase;
  // After a time-out the schedule's moment has often passed already.
  const delayMs = Math.max(0, wantedDelayMs);
  await PurchaseModel.updateOne(
    { _id, accountId, status: { $nin: [...finalStatuses] }, reviewSince: null },
    { $set: { nextActionAt: sweepAfter(purchase.epoch, nowMs() + delayMs), queuedFor: null } },
  );
  await tryToAddJob(askProviderJob, { purchaseId: _id, accountId, askNow: false }, { delayMs });
}
