import type { PurchaseData } from './fulfil-purchase.job.js';
import { loadPurchase } from './load-purchase.js';
import { putUnderReview } from './put-under-review.js';
import { isFinal } from '../states.js';

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
