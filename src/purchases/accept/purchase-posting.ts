import { buildQuoteClaim } from '../../bills/claim-quote.js';
import type { Bar, Posting } from '../../money/posting/posting.js';
import { purchases, toStored, type Purchase } from '../purchase.model.js';
import { buildTotalsChanges } from '../totals-of.js';

/**
 * The debit of a purchase: wallet −price, the purchase (PENDING) and the claim of its quote. A markup has a line of its own in
 * the journal, so that the verification knows it from what is never changed. A second one under the
 * same ref_id of the account is a duplicate; a quote that
 * is gone makes it stale, and so does another payment of the same bill.
 */
export function buildPurchasePosting(purchase: Purchase, barredBy?: Bar): Posting {
  const { _id, accountId, refId, price, markup = 0, quoteId } = purchase;
  return {
    accountId,
    kind: 'purchase',
    subjectId: _id,
    wallet: { balance: -price },
    lines: [
      { account: `wallet:${accountId}`, amount: -price },
      { account: 'platform:suspense', amount: price - markup },
      ...(markup > 0 ? [{ account: 'platform:suspense' as const, amount: markup }] : []),
    ],
    inserts: [
      { collection: purchases.collectionName, document: toStored(purchase), key: { accountId, refId } },
    ],
    ...(barredBy && { barredBy }),
    changes: quoteId === null ? [] : [buildQuoteClaim(quoteId, _id)],
    totals: buildTotalsChanges(null, purchase),
  };
}
