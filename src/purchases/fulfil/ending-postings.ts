/** The postings that end a purchase, as data: whoever ends it adds what else belongs to that (an audit entry). */
import { getExistingAccount } from '../../accounts/find-account.js';
import { computePlatformShare } from '../../money/commission.js';
import { buildSellerCreditInsert } from '../../money/credits/seller-credit-insert.js';
import { buildMovementLines } from '../../money/journals/new-journal.js';
import type { Insert, Posting } from '../../money/posting/posting.js';
import type { Delivery } from '../../webhooks/delivery.model.js';
import { buildDeliveryInserts } from '../../webhooks/insert-deliveries.js';
import type { Order } from '../order.model.js';
import { buildPurchaseDeliveries } from '../purchase-events.js';
import type { Purchase } from '../purchase.model.js';
import { buildTransition } from '../states.js';
import { buildTotalsChanges } from '../totals-of.js';
import { buildOrderClosing } from './close-order.js';

export interface PurchaseConclusion {
  posting: Posting & { inserts: Insert[] };
  /** To be announced once it is written. */
  deliveries: Delivery[];
}

/** PROCESSING -> SUCCESS: the suspended price goes to the seller of the order and to the platform. */
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

/** -> FAILED: the debit returns to the wallet. @param order The open one, or null where none is. */
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
