import { post } from '../../money/posting/post.js';
import { announceDeliveries } from '../../webhooks/announce-deliveries.js';
import type { Order } from '../order.model.js';
import type { Purchase } from '../purchase.model.js';
import { StalePurchaseError } from '../states.js';
import { buildFailureConclusion } from './ending-postings.js';
import { countConclusion } from './purchase-metrics.js';
import { recordContradiction } from './record-contradiction.js';

/**
 * -> FAILED, and the debit returns to the wallet in the same posting. Only for a refusal that is certain; an unknown
 * outcome never comes here.
 * Invariant: one refund per purchase, by the version that was read and by the unique journal.
 * @param order The order that was refused, or null where none is open.
 * @throws StalePurchaseError if the purchase has changed since it was read: nothing was written, and an answer that
 *   contradicts what it is now has become a case.
 */
export async function concludeFailure(
  purchase: Purchase,
  order: Order | null,
  reason: { code: string; message: string },
): Promise<void> {
  const { posting, deliveries } = await buildFailureConclusion(purchase, order, reason);
  const result = await post(posting);
  if (result.outcome !== 'posted') {
    if (order) {
      await recordContradiction(purchase, { order, says: 'failed' });
    }
    throw new StalePurchaseError(`Transaction ${purchase._id} changed meanwhile`);
  }
  countConclusion(purchase, 'failed', order);
  await announceDeliveries(deliveries);
}
