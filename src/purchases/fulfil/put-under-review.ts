import { post } from '../../money/posting/post.js';
import { now } from '../../shared/clock.js';
import { logger } from '../../shared/logger.js';
import { getLogFields } from '../purchase-metrics.js';
import { purchases, type Purchase, PurchaseModel } from '../purchase.model.js';
import { type PurchaseData, loadPurchase } from './fulfilment-jobs.js';
import { isFinal } from '../states.js';

/**
 * Hands a purchase to the operator: it stays PROCESSING, neither refunded nor bought again, and nobody asks the
 * provider any more until the operator decides (`topup review`). A purchase that has changed since it was read stays
 * as it is: whoever changed it sees to it.
 * @param reason For the operator, kept on the purchase.
 * @returns whether it waits for the operator because of this call.
 */
export async function putUnderReview(purchase: Purchase, reason: string): Promise<boolean> {
  const { _id, accountId, status, version } = purchase;
  const at = now();
  const { outcome } = await post({
    accountId,
    kind: 'review',
    subjectId: _id,
    changes: [
      {
        collection: purchases.collectionName,
        id: _id,
        expect: { status, version, reviewSince: null },
        set: { reviewSince: at, reviewReason: reason, nextActionAt: null, updatedAt: at },
      },
    ],
  });
  if (outcome === 'posted') {
    logger.error('a purchase needs the operator', { ...getLogFields(purchase), reason });
  }
  return outcome === 'posted';
}

const triesMax = 5;

/**
 * Hands a purchase to the operator whose jobs fail again and again. Its orders stay as they are: whatever may have reached a
 * provider is neither refunded nor sent again, and `topup review resolve --as ask` lets the workers go on.
 * @returns whether it shows itself from now on what it waits for; two of its jobs may come to this at the same time.
 */
export async function setAsidePurchase(which: PurchaseData, reason: string): Promise<boolean> {
  for (let tries = 0; tries < triesMax; tries++) {
    const purchase = await loadPurchase(which);
    if (!purchase || isFinal(purchase.status) || purchase.reviewSince !== null) {
      return true;
    }
    if (await putUnderReview(purchase, reason)) {
      return true;
    }
  }
  return false;
}

/**
 * Adds to the reason of a review what has come to be known since; the same words again change nothing. It decides
 * nothing, so that a note which another one overtakes may get lost.
 */
export async function appendReviewNote(purchase: Purchase, note: string): Promise<void> {
  const { _id, accountId, reviewSince, reviewReason } = purchase;
  if (reviewReason?.includes(note)) {
    return;
  }
  await PurchaseModel.updateOne(
    { _id, accountId, reviewSince, reviewReason: reviewReason ?? null },
    { $set: { reviewReason: reviewReason ? `${reviewReason} ${note}` : note } },
  );
}
