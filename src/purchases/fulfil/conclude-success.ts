import { scheduleSellerPosting } from '../../money/credits/post-seller-credits.js';
import { post } from '../../money/posting/post.js';
import { announceDeliveries } from '../../webhooks/announce-deliveries.js';
import type { Order } from '../order.model.js';
import type { Purchase } from '../purchase.model.js';
import { StalePurchaseError } from '../states.js';
import { buildSuccessConclusion } from './ending-postings.js';
import { countConclusion } from './purchase-metrics.js';
import { recordContradiction } from './record-contradiction.js';

/**
 * PROCESSING -> SUCCESS: the suspended price goes to the seller (price − commission) and to the platform, together
 * with the webhooks that tell it (docs/explanation/postings.md#what-one-posting-writes).
 * Invariant: once per purchase, by the version that was read and by the unique journal.
 * @throws StalePurchaseError if the purchase has changed since it was read: nothing was written, and an answer that
 *   contradicts what it is now has become a case.
 */
export async function concludeSuccess(
  purchase: Purchase,
  order: Order,
  answer: { message: string; serialNumber: string | null; code: string },
): Promise<void> {
  const { posting, deliveries } = await buildSuccessConclusion(purchase, order, answer);
  const result = await post(posting);
  if (result.outcome !== 'posted') {
    await recordContradiction(purchase, { order, says: 'success' });
    throw new StalePurchaseError(`Transaction ${purchase._id} changed meanwhile`);
  }
  countConclusion(purchase, 'success', order);
  await Promise.all([announceDeliveries(deliveries), scheduleSellerPosting(order.sellerId)]);
}
