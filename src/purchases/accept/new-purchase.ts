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

/** The current price and markup in rupiah, the seller of the offer, and the quote of a bill. */
export type Price = Pick<Purchase, 'price' | 'offerSellerId' | 'sku' | 'quoteId' | 'markup'>;

/** A purchase that waits in the queue of the seller whose offer set its price. */
export type NewPurchase = Purchase & { queuedFor: string };

/**
 * Builds a PENDING purchase. If its job is lost, the sweep adds the job again at `nextActionAt`.
 * The price is in rupiah.
 */
export function buildPurchase(
  input: Pick<Purchase, 'accountId' | 'refId' | 'surface' | 'kind' | 'customerNumber' | 'callbackUrl'> &
    Price & { product: Product; requestId?: string | undefined },
): NewPurchase {
  const { product, markup = 0, requestId, ...given } = input;
  const at = now();
  const trace = getCurrentTrace();
  const storableId = getStorableRequestId(requestId);
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
    ...(storableId !== undefined && { requestId: storableId }),
    ...(trace && { traceId: trace.traceId }),
    createdAt: at,
    updatedAt: at,
    finalAt: null,
    proofSalt: createProofSalt(),
  };
}

/**
 * Builds the posting that debits a purchase: it takes the price from the wallet, inserts the
 * PENDING purchase and claims its quote. The markup has its own journal line, so the ledger
 * verification can read it from immutable data.
 *
 * A repeated ref_id of the account is a duplicate. A claimed or expired quote, or another payment
 * of the same bill, makes the posting stale.
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
