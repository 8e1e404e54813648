import { getExistingAccount } from '../../accounts/find-account.js';
import { post } from '../../money/posting/post.js';
import { announceDeliveries } from '../../webhooks/deliver/delivery-jobs.js';
import { buildDeliveryInserts } from '../../webhooks/new-delivery.js';
import { buildPurchaseDeliveries } from '../purchase-notifications.js';
import { purchases, type Purchase, PurchaseModel } from '../purchase.model.js';
import { finalStatuses } from '../states.js';
import { defineScheduledJob } from '../../jobs/sweep-job.js';
import { nowMs } from '../../shared/clock.js';

/** Sends `transaction.pending` to the client once. */
export async function notifyPending(purchase: Purchase): Promise<void> {
  if (purchase.pendingNotified) {
    return;
  }
  const { _id, accountId } = purchase;
  const deliveries = buildPurchaseDeliveries({
    purchase,
    buyer: await getExistingAccount(accountId),
    seller: null,
    event: 'pending',
  });
  const result = await post({
    accountId,
    kind: 'pending-notice',
    subjectId: _id,
    changes: [
      {
        collection: purchases.collectionName,
        id: _id,
        expect: { pendingNotified: false, status: { $nin: [...finalStatuses] } },
        set: { pendingNotified: true },
      },
    ],
    inserts: buildDeliveryInserts(deliveries),
  });
  if (result.outcome === 'posted') {
    await announceDeliveries(deliveries);
  }
}

export const sweepPendingNoticesJob = defineScheduledJob('sweep-pending-notices', 3_000);

const sweepMax = 1_000;
const pendingAfterMs = 3_000;
/**
 * Maximum number of concurrent postings. Each is its own database transaction, so a slow one does
 * not block the rest.
 */
const concurrency = 10;

/** Sends `transaction.pending` for purchases that have been open for `pendingAfterMs`. */
export async function sweepPendingNotices(): Promise<void> {
  const waiting = await PurchaseModel.find({
    pendingNotified: false,
    createdAt: { $lte: new Date(nowMs() - pendingAfterMs) },
  })
    .limit(sweepMax)
    .lean<Purchase[]>();
  for (let from = 0; from < waiting.length; from += concurrency) {
    await Promise.all(waiting.slice(from, from + concurrency).map(notifyPending));
  }
}
