import { getExistingAccount } from '../../accounts/find-account.js';
import { auditInsert, type ChangedBy } from '../../audit/record-audit.js';
import { scheduleSellerPosting } from '../../money/credits/post-seller-credits.js';
import { buildSellerCreditInsert } from '../../money/credits/seller-credit-insert.js';
import { post } from '../../money/posting/post.js';
import type { Change } from '../../money/posting/posting.js';
import { now } from '../../shared/clock.js';
import { announceDeliveries } from '../../webhooks/announce-deliveries.js';
import { buildDeliveryInserts } from '../../webhooks/insert-deliveries.js';
import { CaseModel } from '../case.model.js';
import { buildPurchaseDeliveries } from '../purchase-events.js';
import type { Purchase } from '../purchase.model.js';
import { buildTransition, StalePurchaseError } from '../states.js';
import { buildTotalsChanges } from '../totals-of.js';

/**
 * SUCCESS -> REFUNDED, the one change after a final state (docs/reference/api/purchases.md): the price goes back to the
 * buyer, is taken back from the seller (below zero if need be) and from the platform's commission, in one posting with
 * the second callback.
 * Invariant: once per purchase, by the version that was read and by the unique journal.
 * @param reversal.message Words for the client. `by`: the system (the provider took it back), or the operator.
 *   `caseIds`: open cases that are closed by it.
 * @throws StalePurchaseError if somebody reversed it meanwhile: nothing was written.
 */
export async function reverseSale(
  purchase: Purchase,
  reversal: { message: string; by: ChangedBy; caseIds?: string[] },
): Promise<void> {
  const { _id, accountId, price, sellerId, commissionAmount } = purchase;
  if (sellerId === null || commissionAmount === null) {
    throw new Error(`Transaction ${_id} was never sold`);
  }
  const [buyer, seller] = await Promise.all([getExistingAccount(accountId), getExistingAccount(sellerId)]);
  const sellerShare = price - commissionAmount;
  const { change, moved } = buildTransition(purchase, 'REFUNDED', { message: reversal.message });
  const { caseIds = [] } = reversal;
  const deliveries = buildPurchaseDeliveries({ purchase: moved, buyer, seller, event: 'reversed' });
  const result = await post({
    accountId,
    kind: 'reversal',
    subjectId: _id,
    wallet: { balance: price },
    lines: [
      { account: `payable:${sellerId}`, amount: -sellerShare },
      { account: 'platform:revenue', amount: -commissionAmount },
      { account: `wallet:${accountId}`, amount: price },
    ],
    changes: [change, ...(caseIds.length > 0 ? [closeCases(caseIds)] : [])],
    totals: buildTotalsChanges(purchase, moved),
    inserts: [
      // A negative credit: the posting of seller wallets takes it from there.
      buildSellerCreditInsert({
        id: `${_id}-reversal`,
        accountId,
        transactionId: _id,
        sellerId,
        amount: -sellerShare,
      }),
      auditInsert({
        ...reversal.by,
        action: 'transaction.reverse',
        subject: { kind: 'transaction', id: _id },
        before: { status: 'SUCCESS' },
        // Not the words: they may name the customer, and stay with the purchase until it is masked.
        after: { status: 'REFUNDED' },
      }),
      ...buildDeliveryInserts(deliveries),
    ],
  });
  if (result.outcome !== 'posted') {
    throw new StalePurchaseError(`Transaction ${_id} changed meanwhile`);
  }
  await Promise.all([announceDeliveries(deliveries), scheduleSellerPosting(sellerId)]);
}

function closeCases(id: string[]): Change {
  const collection = CaseModel.collection.collectionName;
  return { collection, id, expect: { resolvedAt: null }, set: { resolvedAt: now() } };
}
