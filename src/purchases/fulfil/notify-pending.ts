import { getExistingAccount } from '../../accounts/find-account.js';
import { post } from '../../money/posting/post.js';
import { announceDeliveries } from '../../webhooks/announce-deliveries.js';
import { buildDeliveryInserts } from '../../webhooks/insert-deliveries.js';
import { buildPurchaseDeliveries } from '../purchase-events.js';
import { purchases, type Purchase } from '../purchase.model.js';
import { finalStatuses } from '../states.js';

/** Tells the client, once, that its purchase is taking a while (`transaction.pending`). */
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
