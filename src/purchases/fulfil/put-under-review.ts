import { post } from '../../money/posting/post.js';
import { now } from '../../shared/clock.js';
import { logger } from '../../shared/logger.js';
import { getLogFields } from '../purchase-metrics.js';
import { purchases, type Purchase, PurchaseModel } from '../purchase.model.js';
import { type PurchaseData, loadPurchase } from './fulfilment-jobs.js';
import { isFinal } from '../states.js';

/**
 * Puts a purchase under review. It stays PROCESSING. Until the operator decides (`topup review`),
 * it is not refunded, no order is sent and its provider is not queried. A purchase that has changed
 * since it was read is left unchanged.
 * @param reason Shown to the operator and stored with the purchase.
 * @returns True if this call opened the review.
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
    logger.error('a purchase was put under review', { ...getLogFields(purchase), reason });
  }
  return outcome === 'posted';
}

const triesMax = 5;

/**
 * Puts a purchase under review because its jobs keep failing. Its orders are unchanged, so no order
 * that may have reached a provider is refunded or sent again. `topup review resolve --as ask`
 * resumes the purchase.
 * @returns True if the purchase is under review, final or deleted. Two jobs of the purchase may
 *   call this concurrently.
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
 * Appends a note to the reason of a review, unless the reason already contains it. If two notes are
 * added concurrently, one may be lost. This is acceptable because nothing depends on notes.
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
