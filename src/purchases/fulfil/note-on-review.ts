import { PurchaseModel, type Purchase } from '../purchase.model.js';

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
