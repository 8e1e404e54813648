import { accountById } from '../../accounts/find-account.js';
import { now } from '../../shared/clock.js';
import { commissionOf } from '../../money/commission.js';
import { inTransaction, type Session } from '../../database/mongo.js';
import { insertJournals } from '../../money/journals/insert-journals.js';
import { announceDeliveries } from '../../webhooks/announce-deliveries.js';
import { insertDeliveries } from '../../webhooks/insert-deliveries.js';
import { transactionDeliveries } from '../purchase-events.js';
import { AttemptModel, type Attempt } from '../order.model.js';
import { recordContradiction } from './record-contradiction.js';
import { insertSellerCredit } from '../../money/credits/insert-seller-credit.js';
import { moveTo, StaleTransactionError } from '../states.js';
import type { Transaction } from '../purchase.model.js';

/**
 * PROCESSING -> SUCCESS: the suspended price goes to the seller (price − commission) and to the platform, in one
 * database transaction with the webhooks that tell it (interface 3.1, money.md table).
 * Invariant: once per transaction, by the version that was read and by the unique journal.
 */
export async function settleSuccess(
  transaction: Transaction,
  attempt: Attempt,
  answer: { message: string; serialNumber: string | null; code: string },
): Promise<void> {
  const [buyer, seller] = await Promise.all([
    accountById(transaction.accountId),
    accountById(attempt.sellerId),
  ]);
  const commissionAmount = commissionOf(transaction.price, attempt.commissionRate);
  try {
    const deliveries = await inTransaction(async (session) => {
      const settled = await moveTo(session, transaction, 'SUCCESS', {
        serialNumber: answer.serialNumber,
        message: answer.message,
        sellerId: attempt.sellerId,
        commissionAmount,
      });
      await closeAsBought(session, attempt, answer);
      await insertJournals(session, [successJournal(transaction, attempt, commissionAmount)]);
      await insertSellerCredit(session, {
        id: transaction._id,
        transactionId: transaction._id,
        sellerId: attempt.sellerId,
        amount: transaction.price - commissionAmount,
      });
      const rows = transactionDeliveries({
        transaction: settled,
        buyer,
        seller,
        event: 'success',
      });
      await insertDeliveries(session, rows);
      return rows;
    });
    await announceDeliveries(deliveries);
  } catch (error) {
    if (error instanceof StaleTransactionError) {
      await recordContradiction(transaction._id, {
        expected: 'SUCCESS',
        detail: `attempt ${attempt.n} succeeded at the provider`,
        attemptId: attempt._id,
      });
    }
    throw error;
  }
}

async function closeAsBought(
  session: Session,
  attempt: Attempt,
  answer: { message: string; serialNumber: string | null; code: string },
): Promise<void> {
  await AttemptModel.updateOne(
    { _id: attempt._id },
    { $set: { ...answer, status: 'OK', open: false, updatedAt: now() } },
    { session },
  );
}

function successJournal(transaction: Transaction, attempt: Attempt, commissionAmount: number) {
  return {
    kind: 'success' as const,
    subjectId: transaction._id,
    walletId: null,
    walletSeq: null,
    balanceAfter: null,
    lines: [
      { account: 'platform:suspense' as const, amount: -transaction.price },
      { account: `payable:${attempt.sellerId}` as const, amount: transaction.price - commissionAmount },
      { account: 'platform:revenue' as const, amount: commissionAmount },
    ],
  };
}
