import type { Order } from '../order.model.js';
import { findOrders } from '../fulfil/orders.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';
import { getAcceptedDecisions, type ReviewOutcome } from './possible-decisions.js';

export interface Review {
  purchase: Purchase;
  /** Newest last. */
  orders: Order[];
  /** What the service accepts now. */
  decisions: ReviewOutcome[];
}

/** Purchases that wait for the operator's decision, the oldest first. */
export async function listReviews({ limit }: { limit: number }): Promise<Review[]> {
  const purchases = await PurchaseModel.find({ reviewSince: { $type: 'date' } })
    .sort({ reviewSince: 1 })
    .limit(limit)
    .lean<Purchase[]>();
  const orders = (await Promise.all(purchases.map(findOrders))).flat();
  return purchases.map((purchase) => {
    const own = orders.filter(({ transactionId: purchaseId }) => purchaseId === purchase._id);
    return { purchase, orders: own, decisions: getAcceptedDecisions(purchase, own) };
  });
}
