import { now } from '../../shared/clock.js';
import { openCase } from './record-contradiction.js';
import { finalStatuses } from '../states.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';

/**
 * Hands a purchase to the operator: it stays PROCESSING, neither refunded nor bought again, and nobody asks the
 * provider any more until the operator decides (`topup review`).
 */
export async function putUnderReview(purchase: Purchase, why: string): Promise<void> {
  await PurchaseModel.updateOne(
    { _id: purchase._id, status: { $nin: [...finalStatuses] }, reviewSince: null },
    { $set: { reviewSince: now(), nextActionAt: null, updatedAt: now() } },
  );
  await openCase({ transactionId: purchase._id, kind: 'review', detail: why });
}
