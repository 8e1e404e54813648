import { accountById } from '../../accounts/find-account.js';
import { now } from '../../shared/clock.js';
import { commissionOf } from '../../money/commission.js';
import { inTransaction, type Session } from '../../database/mongo.js';
import { insertJournals } from '../../money/journals/insert-journals.js';
import { announceDeliveries } from '../../webhooks/announce-deliveries.js';
import { insertDeliveries } from '../../webhooks/insert-deliveries.js';
import { purchaseDeliveries } from '../purchase-events.js';
import { OrderModel, type Order } from '../order.model.js';
import { recordContradiction } from './record-contradiction.js';
import { insertSellerCredit } from '../../money/credits/insert-seller-credit.js';
import { announceSellerCredit } from '../../money/credits/post-seller-credits.js';
import { moveTo, StalePurchaseError } from '../states.js';
import type { Purchase } from '../purchase.model.js';

/**
 * PROCESSING -> SUCCESS: the suspended price goes to the seller (price − commission) and to the platform, in one
 * database transaction with the webhooks that tell it (docs/money.md#what-one-database-transaction-writes).
 * Invariant: once per purchase, by the version that was read and by the unique journal.
 */
export async function concludeSuccess(
  purchase: Purchase,
  order: Order,
  answer: { message: string; serialNumber: string | null; code: string },
): Promise<void> {
  const [buyer, seller] = await Promise.all([accountById(purchase.accountId), accountById(order.sellerId)]);
  const commissionAmount = commissionOf(purchase.price, order.commissionRate);
  try {
    const deliveries = await inTransaction(async (session) => {
      const settled = await moveTo(session, purchase, 'SUCCESS', {
        serialNumber: answer.serialNumber,
        message: answer.message,
        sellerId: order.sellerId,
        commissionAmount,
      });
      await closeAsBought(session, order, answer);
      await insertJournals(session, [successJournal(purchase, order, commissionAmount)]);
      await insertSellerCredit(session, {
        id: purchase._id,
        transactionId: purchase._id,
        sellerId: order.sellerId,
        amount: purchase.price - commissionAmount,
      });
      const rows = purchaseDeliveries({
        purchase: settled,
        buyer,
        seller,
        event: 'success',
      });
      await insertDeliveries(session, rows);
      return rows;
    });
    await Promise.all([announceDeliveries(deliveries), announceSellerCredit(order.sellerId)]);
  } catch (error) {
    if (error instanceof StalePurchaseError) {
      await recordContradiction(purchase._id, {
        expected: 'SUCCESS',
        detail: `attempt ${order.n} succeeded at the provider`,
        attemptId: order._id,
      });
    }
    throw error;
  }
}

async function closeAsBought(
  session: Session,
  order: Order,
  answer: { message: string; serialNumber: string | null; code: string },
): Promise<void> {
  await OrderModel.updateOne(
    { _id: order._id },
    { $set: { ...answer, status: 'OK', open: false, updatedAt: now() } },
    { session },
  );
}

function successJournal(purchase: Purchase, order: Order, commissionAmount: number) {
  return {
    kind: 'success' as const,
    subjectId: purchase._id,
    walletId: null,
    walletSeq: null,
    balanceAfter: null,
    lines: [
      { account: 'platform:suspense' as const, amount: -purchase.price },
      { account: `payable:${order.sellerId}` as const, amount: purchase.price - commissionAmount },
      { account: 'platform:revenue' as const, amount: commissionAmount },
    ],
  };
}
