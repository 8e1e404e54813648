import { accountById } from '../../accounts/find-account.js';
import { now } from '../../shared/clock.js';
import { inTransaction } from '../../database/mongo.js';
import { changeWallet } from '../../money/wallets/change-wallet.js';
import { move } from '../../money/journals/insert-journals.js';
import { announceDeliveries } from '../../webhooks/announce-deliveries.js';
import { insertDeliveries } from '../../webhooks/insert-deliveries.js';
import { purchaseDeliveries } from '../purchase-events.js';
import { OrderModel, type Order } from '../order.model.js';
import { recordContradiction } from './record-contradiction.js';
import { moveTo, StalePurchaseError } from '../states.js';
import type { Purchase } from '../purchase.model.js';

/**
 * -> FAILED, and the debit returns to the wallet in the same database transaction. Only for a refusal that is
 * certain; an unknown outcome never comes here.
 * Invariant: one refund per purchase, by the version that was read and by the unique journal.
 * @param order The order that was refused, or null where none is open.
 */
export async function concludeFailure(
  purchase: Purchase,
  order: Order | null,
  reason: { code: string; message: string },
): Promise<void> {
  const buyer = await accountById(purchase.accountId);
  try {
    const deliveries = await inTransaction(
      async (session) => {
        const failed = await moveTo(session, purchase, 'FAILED', {
          message: reason.message,
          failureCode: reason.code,
        });
        if (order) {
          await OrderModel.updateOne(
            { _id: order._id },
            { $set: { ...reason, status: 'REJECTED', open: false, updatedAt: now() } },
            { session },
          );
        }
        await changeWallet(session, {
          walletId: purchase.accountId,
          balanceDelta: purchase.price,
          kind: 'refund',
          subjectId: purchase._id,
          lines: move(purchase.price, {
            from: 'platform:suspense',
            to: `wallet:${purchase.accountId}`,
          }),
        });
        const rows = purchaseDeliveries({ purchase: failed, buyer, seller: null, event: 'failed' });
        await insertDeliveries(session, rows);
        return rows;
      },
      { wallet: purchase.accountId },
    );
    await announceDeliveries(deliveries);
  } catch (error) {
    if (error instanceof StalePurchaseError) {
      await recordContradiction(purchase._id, { expected: 'FAILED', detail: reason.message });
    }
    throw error;
  }
}
