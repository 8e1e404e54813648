/** The postings that end a purchase, as data: whoever ends it adds what else belongs to that (an audit entry). */
import { accountById } from '../../accounts/find-account.js';
import { keptOf } from '../../money/commission.js';
import { sellerCreditInsert } from '../../money/credits/seller-credit-insert.js';
import { move } from '../../money/journals/new-journal.js';
import type { Insert, Posting } from '../../money/posting/posting.js';
import type { Delivery } from '../../webhooks/delivery.model.js';
import { deliveryInserts } from '../../webhooks/insert-deliveries.js';
import type { Order } from '../order.model.js';
import { purchaseDeliveries } from '../purchase-events.js';
import type { Purchase } from '../purchase.model.js';
import { moveTo } from '../states.js';
import { totalsOf } from '../totals-of.js';
import { closeOrder } from './close-order.js';

export interface Ending {
  posting: Posting & { inserts: Insert[] };
  /** To be announced once it is written. */
  deliveries: Delivery[];
}

/** PROCESSING -> SUCCESS: the suspended price goes to the seller of the order and to the platform. */
export async function successEnding(
  purchase: Purchase,
  order: Order,
  answer: { message: string; serialNumber: string | null; code: string },
): Promise<Ending> {
  const { _id, accountId, price } = purchase;
  const { sellerId } = order;
  const [buyer, seller] = await Promise.all([accountById(accountId), accountById(sellerId)]);
  const commissionAmount = keptOf(purchase, order.commissionRate);
  const amount = price - commissionAmount;
  const { serialNumber, message } = answer;
  const { change, moved } = moveTo(purchase, 'SUCCESS', {
    serialNumber,
    message,
    sellerId,
    commissionAmount,
  });
  const deliveries = purchaseDeliveries({ purchase: moved, buyer, seller, event: 'success' });
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
      changes: [change, closeOrder(order, { ...answer, status: 'OK' })],
      totals: totalsOf(purchase, moved),
      inserts: [
        sellerCreditInsert({ id: _id, accountId, transactionId: _id, sellerId, amount }),
        ...deliveryInserts(deliveries),
      ],
    },
  };
}

/** -> FAILED: the debit returns to the wallet. @param order The open one, or null where none is. */
export async function failureEnding(
  purchase: Purchase,
  order: Order | null,
  reason: { code: string; message: string },
): Promise<Ending> {
  const { _id, accountId, price } = purchase;
  const buyer = await accountById(accountId);
  const { message, code: failureCode } = reason;
  const { change, moved } = moveTo(purchase, 'FAILED', { message, failureCode });
  const deliveries = purchaseDeliveries({ purchase: moved, buyer, seller: null, event: 'failed' });
  return {
    deliveries,
    posting: {
      accountId,
      kind: 'refund',
      subjectId: _id,
      wallet: { balance: price },
      lines: move(price, { from: 'platform:suspense', to: `wallet:${accountId}` }),
      changes: order ? [change, closeOrder(order, { ...reason, status: 'REJECTED' })] : [change],
      totals: totalsOf(purchase, moved),
      inserts: deliveryInserts(deliveries),
    },
  };
}
