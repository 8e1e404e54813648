import { accountById } from '../../accounts/find-account.js';
import { inTransaction } from '../../database/mongo.js';
import { announceDeliveries } from '../../webhooks/announce-deliveries.js';
import { insertDeliveries } from '../../webhooks/insert-deliveries.js';
import { purchaseDeliveries } from '../purchase-events.js';
import { finalStatuses } from '../states.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';

/** Tells the client, once, that its purchase is taking a while (`transaction.pending`). */
export async function notifyPending(purchase: Purchase): Promise<void> {
  if (purchase.pendingNotified) {
    return;
  }
  const buyer = await accountById(purchase.accountId);
  const deliveries = await inTransaction(async (session) => {
    const result = await PurchaseModel.updateOne(
      { _id: purchase._id, pendingNotified: false, status: { $nin: [...finalStatuses] } },
      { $set: { pendingNotified: true } },
      { session },
    );
    if (result.matchedCount === 0) {
      return [];
    }
    const rows = purchaseDeliveries({ purchase, buyer, seller: null, event: 'pending' });
    await insertDeliveries(session, rows);
    return rows;
  });
  await announceDeliveries(deliveries);
}
