import { claimQuote } from '../../bills/claim-quote.js';
import { createDebit, type Debit, type DebitResult } from '../../money/wallets/debit-wallet.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';
import { insertPurchases } from './insert-purchases.js';

interface PurchaseDebit extends Debit {
  purchase: Purchase;
}

/**
 * Debits a purchase: wallet −price, the purchase (PENDING), the claim of its quote and its journal in one database
 * transaction. `duplicate`: the account already has a purchase with this ref_id.
 * @throws QuoteGoneError, DependencyError (nothing was written, or the same ref_id tells).
 */
export function debitPurchase(purchase: Purchase): Promise<DebitResult> {
  return debit({
    walletId: purchase.accountId,
    refId: purchase.refId,
    subjectId: purchase._id,
    amount: purchase.price,
    // A quote that is gone refuses its own payment only.
    alone: purchase.quoteId !== null,
    purchase,
  });
}

const debit = createDebit<PurchaseDebit>({
  async write(session, debits) {
    const accepted = debits.map((each) => each.purchase);
    for (const { quoteId, _id } of accepted) {
      if (quoteId !== null) {
        await claimQuote(session, quoteId, _id);
      }
    }
    await insertPurchases(session, accepted);
  },
  async stored(accountId, refIds) {
    const found = await PurchaseModel.find({ accountId, refId: { $in: refIds } }, { refId: 1 }).lean();
    return found.map(({ _id, refId }) => ({ refId, subjectId: _id }));
  },
});
