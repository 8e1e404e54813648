import { accountById } from '../../accounts/find-account.js';
import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { inTransaction } from '../../database/mongo.js';
import { changeWallet } from '../../money/wallets/change-wallet.js';
import { announceDeliveries } from '../../webhooks/announce-deliveries.js';
import { insertDeliveries } from '../../webhooks/insert-deliveries.js';
import { purchaseDeliveries } from '../purchase-events.js';
import { insertSellerCredit } from '../../money/credits/insert-seller-credit.js';
import { announceSellerCredit } from '../../money/credits/post-seller-credits.js';
import { moveTo } from '../states.js';
import type { Purchase } from '../purchase.model.js';

/**
 * SUCCESS -> REFUNDED, the one change after a final state (docs/interface.md#purchases): the price goes back to the
 * buyer, is taken back from the seller (below zero if need be) and from the platform's commission, in one database
 * transaction with the second callback.
 * Invariant: once per purchase, by the version that was read and by the unique journal.
 * @param reversal.message Words for the client. `by`: the system (the provider took it back), or the operator.
 * @throws StalePurchaseError if somebody reversed it meanwhile: nothing was written.
 */
export async function reverseSale(
  purchase: Purchase,
  reversal: { message: string; by: ChangedBy },
): Promise<void> {
  const { sellerId, commissionAmount } = purchase;
  if (sellerId === null || commissionAmount === null) {
    throw new Error(`Transaction ${purchase._id} was never sold`);
  }
  const [buyer, seller] = await Promise.all([accountById(purchase.accountId), accountById(sellerId)]);
  const sellerShare = purchase.price - commissionAmount;
  const deliveries = await inTransaction(async (session) => {
    const reversed = await moveTo(session, purchase, 'REFUNDED', { message: reversal.message });
    await changeWallet(session, {
      walletId: purchase.accountId,
      balanceDelta: purchase.price,
      kind: 'reversal',
      subjectId: purchase._id,
      lines: [
        { account: `payable:${sellerId}`, amount: -sellerShare },
        { account: 'platform:revenue', amount: -commissionAmount },
        { account: `wallet:${purchase.accountId}`, amount: purchase.price },
      ],
    });
    // A negative credit: the posting of seller wallets takes it from there.
    await insertSellerCredit(session, {
      id: `${purchase._id}-reversal`,
      transactionId: purchase._id,
      sellerId,
      amount: -sellerShare,
    });
    await recordAudit(session, {
      ...reversal.by,
      action: 'transaction.reverse',
      subject: { kind: 'transaction', id: purchase._id },
      before: { status: 'SUCCESS' },
      after: { status: 'REFUNDED', message: reversal.message },
    });
    const rows = purchaseDeliveries({ purchase: reversed, buyer, seller, event: 'reversed' });
    await insertDeliveries(session, rows);
    return rows;
  });
  await Promise.all([announceDeliveries(deliveries), announceSellerCredit(sellerId)]);
}
