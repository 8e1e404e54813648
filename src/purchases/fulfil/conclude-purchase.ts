import { getExistingAccount } from '../../accounts/find-account.js';
import { computePlatformShare } from '../../money/commission.js';
import { buildSellerCreditInsert, scheduleSellerPosting } from '../../money/credits/seller-credits.js';
import { buildMovementLines } from '../../money/journals/new-journal.js';
import type { Insert, Posting } from '../../money/posting/posting.js';
import type { Delivery } from '../../webhooks/deliver/delivery.model.js';
import { buildDeliveryInserts } from '../../webhooks/new-delivery.js';
import type { Order } from '../order.model.js';
import { buildPurchaseDeliveries } from '../purchase-notifications.js';
import type { Purchase } from '../purchase.model.js';
import { buildTransition, StalePurchaseError } from '../states.js';
import { buildTotalsChanges } from '../purchase-totals.js';
import { buildOrderClosing } from './order-transitions.js';
import { post } from '../../money/posting/post.js';
import { announceDeliveries } from '../../webhooks/deliver/delivery-jobs.js';
import { countConclusion } from '../purchase-metrics.js';
import { recordContradiction } from './record-cases.js';

export interface PurchaseConclusion {
  posting: Posting & { inserts: Insert[] };
  /** Send these after the commit. */
  deliveries: Delivery[];
}

/**
 * Builds the posting PROCESSING -> SUCCESS. The suspended price goes to the seller of the order and
 * to the platform. Callers may add inserts, such as an audit entry.
 */
export async function buildSuccessConclusion(
  purchase: Purchase,
  order: Order,
  answer: { message: string; serialNumber: string | null; code: string },
): Promise<PurchaseConclusion> {
  const { _id, accountId, price } = purchase;
  const { sellerId } = order;
  const [buyer, seller] = await Promise.all([getExistingAccount(accountId), getExistingAccount(sellerId)]);
  const commissionAmount = computePlatformShare(purchase, order.commissionRate);
  const amount = price - commissionAmount;
  const { serialNumber, message } = answer;
  const { change, moved } = buildTransition(purchase, 'SUCCESS', {
    serialNumber,
    message,
    sellerId,
    commissionAmount,
  });
  const deliveries = buildPurchaseDeliveries({ purchase: moved, buyer, seller, event: 'success' });
  return {
    deliveries,
    posting: {
      accountId,
      kind: 'success',
      subjectId: _id,
      lines: [
        { account: 'platform:suspense', amount: -price },
        { account: `payable:${sellerId}`, amount },
        { account: 'platform:revenue', amount: commissionAmount },
      ],
      changes: [change, buildOrderClosing(order, { ...answer, status: 'OK' })],
      totals: buildTotalsChanges(purchase, moved),
      inserts: [
        buildSellerCreditInsert({ id: _id, accountId, transactionId: _id, sellerId, amount }),
        ...buildDeliveryInserts(deliveries),
      ],
    },
  };
}

/**
 * Builds the posting that changes the purchase to FAILED. The debit returns to the wallet.
 * @param order The open order, or null if no order is open.
 */
export async function buildFailureConclusion(
  purchase: Purchase,
  order: Order | null,
  reason: { code: string; message: string },
): Promise<PurchaseConclusion> {
  const { _id, accountId, price } = purchase;
  const buyer = await getExistingAccount(accountId);
  const { message, code: failureCode } = reason;
  const { change, moved } = buildTransition(purchase, 'FAILED', { message, failureCode });
  const deliveries = buildPurchaseDeliveries({ purchase: moved, buyer, seller: null, event: 'failed' });
  return {
    deliveries,
    posting: {
      accountId,
      kind: 'refund',
      subjectId: _id,
      wallet: { balance: price },
      lines: buildMovementLines(price, { from: 'platform:suspense', to: `wallet:${accountId}` }),
      changes: order ? [change, buildOrderClosing(order, { ...reason, status: 'REJECTED' })] : [change],
      totals: buildTotalsChanges(purchase, moved),
      inserts: buildDeliveryInserts(deliveries),
    },
  };
}

/**
 * Concludes PROCESSING -> SUCCESS. In one posting, the suspended price goes to the seller (price −
 * commission) and to the platform, and the webhooks are stored
 * (docs/explanation/postings.md#what-one-posting-writes).
 *
 * Invariant: a purchase is concluded once. The expected version and the unique journal enforce
 * this.
 *
 * @throws StalePurchaseError if the purchase has changed since it was read. Nothing was written. If
 *   the response contradicts the new state, a case is opened.
 */
export async function concludeSuccess(
  purchase: Purchase,
  order: Order,
  answer: { message: string; serialNumber: string | null; code: string },
): Promise<void> {
  const { posting, deliveries } = await buildSuccessConclusion(purchase, order, answer);
  const result = await post(posting);
  if (result.outcome !== 'posted') {
    await recordContradiction(purchase, { order, answer: 'success' });
    throw new StalePurchaseError(`Transaction ${purchase._id} changed in the meantime`);
  }
  countConclusion(purchase, 'success', order);
  await Promise.all([announceDeliveries(deliveries), scheduleSellerPosting(order.sellerId)]);
}

/**
 * Changes the purchase to FAILED and returns the debit to the wallet in the same posting. Call it
 * only after a definite refusal, never for an unknown outcome.
 *
 * Invariant: a purchase is refunded once. The expected version and the unique journal enforce this.
 *
 * @param order The order that was refused, or null if no order is open.
 * @throws StalePurchaseError if the purchase has changed since it was read. Nothing was written. If
 *   the response contradicts the new state, a case is opened.
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
      await recordContradiction(purchase, { order, answer: 'failed' });
    }
    throw new StalePurchaseError(`Transaction ${purchase._id} changed in the meantime`);
  }
  countConclusion(purchase, 'failed', order);
  await announceDeliveries(deliveries);
}
