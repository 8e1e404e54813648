import type { Order } from '../order.model.js';
import { ordersOf } from '../fulfil/orders.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';
import { decisionsLeft, type Outcome } from './possible-decisions.js';

export interface Review {
  purchase: Purchase;
  /** Newest last. */
  orders: Order[];
  /** What the service accepts now. */
  decisions: Outcome[];
}

/** Purchases that wait for the operator's decision, the oldest first. */
export async function listReviews({ limit }: { limit: number }): Promise<Review[]> {
  const purchases = await PurchaseModel.find({ reviewSince: { $type: 'date' } })
    .sort({ reviewSince: 1 })
    .limit(limit)
    .lean<Purchase[]>();
  const orders = (await Promise.all(purchases.map(ordersOf))).flat();
  return purchases.map((purchase) => {
    const own = orders.filter(({ transactionId: purchaseId }) => purchaseId === purchase._id);
    return { purchase, orders: own, decisions: decisionsLeft(purchase, own) };
  });
}
