import type { PurchaseData } from './fulfil-purchase.job.js';
import { loadPurchase } from './load-purchase.js';
import { putUnderReview } from './put-under-review.js';
import { isFinal } from '../states.js';

/**
 * Hands a purchase to the operator whose jobs fail again and again. Its orders stay as they are: whatever may have reached a
 * provider is neither refunded nor sent again, and `topup review resolve --as ask` lets the workers go on.
 * @returns false if somebody has changed it just now: then it is not stuck.
 */
export async function setAsidePurchase(which: PurchaseData, reason: string): Promise<boolean> {
  const purchase = await loadPurchase(which);
  if (!purchase || isFinal(purchase.status) || purchase.reviewSince !== null) {
    return true;
  }
  return putUnderReview(purchase, reason);
}
