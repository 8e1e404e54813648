import { post } from '../../money/posting/post.js';
import { now } from '../../shared/clock.js';
import { logger } from '../../shared/logger.js';
import { getLogFields } from '../names-of.js';
import { purchases, type Purchase } from '../purchase.model.js';

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
