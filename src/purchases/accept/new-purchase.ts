import { createProofSalt } from '../../money/closes/canonical-text.js';
import type { Product } from '../../products/product.model.js';
import { now } from '../../shared/clock.js';
import { newId, getStorableRequestId } from '../../shared/ids.js';
import { getCurrentTrace } from '../../shared/tracing.js';
import { getSweepTime } from '../fulfil/fulfilment-jobs.js';
import { type Purchase, purchases, toStored } from '../purchase.model.js';
import { buildQuoteClaim } from '../../bills/quotes.js';
import type { Bar, Posting } from '../../money/posting/posting.js';
import { buildTotalsChanges } from '../purchase-totals.js';

/** What a product costs now, in rupiah, what of that is markup, whose offer it is, and the quote that is paid, if it is a bill. */
export type Price = Pick<Purchase, 'price' | 'offerSellerId' | 'quoteId' | 'markup'>;

/** It waits for its turn at the seller whose offer its price is. */
export type NewPurchase = Purchase & { queuedFor: string };

/** A purchase as it is accepted: PENDING, and due for the sweep should its job get lost. Price in rupiah. */
export function buildPurchase(
  input: Pick<Purchase, 'accountId' | 'refId' | 'surface' | 'kind' | 'customerNumber' | 'callbackUrl'> &
    Price & { product: Product; requestId?: string | undefined },
): NewPurchase {
  const { product, markup = 0, requestId, ...given } = input;
  const at = now();
  const trace = getCurrentTrace();
  const kept = getStorableRequestId(requestId);
  return {
    ...given,
    ...(markup > 0 && { markup }),
    _id: newId(),
    productCode: product._id,
    productName: product.name,
    subcategory: product.subcategory,
    customerRule: product.customerNumber.kind,
    ...(typeof product.maxWaitS === 'number' && { maxWaitS: product.maxWaitS }),
    status: 'PENDING',
    version: 0,
    serialNumber: null,
    message: null,
    failureCode: null,
    sellerId: null,
    commissionAmount: null,
    epoch: 0,
    nextActionAt: getSweepTime(0),
    queuedFor: given.offerSellerId,
    reviewSince: null,
    pendingNotified: false,
    ...(kept !== undefined && { requestId: kept }),
    ...(trace && { traceId: trace.traceId }),
    createdAt: at,
    updatedAt: at,
    finalAt: null,
    proofSalt: createProofSalt(),
  };
}

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
