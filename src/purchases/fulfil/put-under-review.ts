import { now } from '../../shared/clock.js';
import { logger } from '../../shared/logger.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';

/**
 * Hands a purchase to the operator: it stays PROCESSING, neither refunded nor bought again, and nobody asks the
 * provider any more until the operator decides (`topup review`). A purchase that has changed since it was read stays
 * as it is: whoever changed it sees to it.
 * @param reason For the operator, kept on the purchase.
 * @returns whether it waits for the operator because of this call.
 */
export async function putUnderReview(purchase: Purchase, reason: string): Promise<boolean> {
  const { _id, accountId, status, version } = purchase;
  const { matchedCount } = await PurchaseModel.updateOne(
    { _id, accountId, status, version, reviewSince: null },
    { $set: { reviewSince: now(), reviewReason: reason, nextActionAt: null, updatedAt: now() } },
  );
  if (matchedCount === 1) {
    logger.error('a purchase needs the operator', { purchaseId: _id, reason });
  }
  return matchedCount === 1;
}
