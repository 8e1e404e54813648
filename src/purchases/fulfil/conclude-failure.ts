import { accountById } from '../../accounts/find-account.js';
import { now } from '../../shared/clock.js';
import { inTransaction } from '../../database/mongo.js';
import { changeWallet } from '../../money/wallets/change-wallet.js';
import { move } from '../../money/journals/insert-journals.js';
import { announceDeliveries } from '../../webhooks/announce-deliveries.js';
import { insertDeliveries } from '../../webhooks/insert-deliveries.js';
import { transactionDeliveries } from '../purchase-events.js';
import { AttemptModel, type Attempt } from '../order.model.js';
import { recordContradiction } from './record-contradiction.js';
import { moveTo, StaleTransactionError } from '../states.js';
import type { Transaction } from '../purchase.model.js';

/**
 * -> FAILED, and the debit returns to the wallet in the same database transaction (decisions.md 4). Only for a
 * refusal that is certain; an unknown outcome never comes here.
 * Invariant: one refund per transaction, by the version that was read and by the unique journal.
 * @param attempt The attempt that was refused, or null where none is open.
 */
export async function settleFailure(
  transaction: Transaction,
  attempt: Attempt | null,
  reason: { code: string; message: string },
): Promise<void> {
  const buyer = await accountById(transaction.accountId);
  try {
    const deliveries = await inTransaction(
      async (session) => {
        const failed = await moveTo(session, transaction, 'FAILED', {
          message: reason.message,
          failureCode: reason.code,
        });
        if (attempt) {
          await AttemptModel.updateOne(
            { _id: attempt._id },
            { $set: { ...reason, status: 'REJECTED', open: false, updatedAt: now() } },
            { session },
          );
        }
        await changeWallet(session, {
          walletId: transaction.accountId,
          balanceDelta: transaction.price,
          kind: 'refund',
          subjectId: transaction._id,
          lines: move(transaction.price, {
            from: 'platform:suspense',
            to: `wallet:${transaction.accountId}`,
          }),
        });
        const rows = transactionDeliveries({ transaction: failed, buyer, seller: null, event: 'failed' });
        await insertDeliveries(session, rows);
        return rows;
      },
      { wallet: transaction.accountId },
    );
    await announceDeliveries(deliveries);
  } catch (error) {
    if (error instanceof StaleTransactionError) {
      await recordContradiction(transaction._id, { expected: 'FAILED', detail: reason.message });
    }
    throw error;
  }
}
