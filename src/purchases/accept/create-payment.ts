import { requestBillQuote, isOpenQuote, type OpenQuote } from '../../bills/inquire-bill.js';
import { QuoteModel, type Quote } from '../../bills/quote.model.js';
import type { Bar } from '../../money/posting/posting.js';
import { now } from '../../shared/clock.js';
import { ConflictError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { PurchaseModel, purchases, type Purchase } from '../purchase.model.js';
import { acceptPurchase, type AcceptedPurchase, type PurchaseRequest } from './accept-purchase.js';

/**
 * Maximum number of quotes of a bill that are searched, newest first. If none of them is payable, a
 * new inquiry is sent to the biller.
 */
const quotesMax = 50;
/** Maximum number of payments to read that ended after the quote was requested. */
const endedPaymentsMax = 10;

type BillKey = Pick<Quote, 'accountId' | 'productCode' | 'customerNumber'>;

/**
 * Pays a bill (docs/reference/api/bills.md). Claims the newest payable quote of the same account,
 * product and customer, and debits its total. Without such a quote it makes the inquiry itself. A
 * worker pays the biller.
 *
 * Invariants: those of acceptPurchase. A quote is paid once. An account has at most one payment of
 * a bill in progress. A later payment uses a quote requested after the earlier payment ended
 * (decision 009).
 *
 * @throws ConflictError (409/01) while another payment of the bill is in progress.
 * @throws The errors of requestBillQuote and acceptPurchase.
 */
export function createPayment(request: PurchaseRequest): Promise<AcceptedPurchase> {
  const { account } = request;
  return acceptPurchase('postpaid', request, async (product, customerNumber) => {
    const bill = { accountId: account._id, productCode: product._id, customerNumber };
    const lookedAt = now();
    const found = await findPayableQuote(bill);
    const ended = await findEndedPayments(bill, found?.createdAt ?? lookedAt);
    const live = ended.length === 0 ? found : null;
    const quote = live ?? (await requestBillQuote(account._id, product, customerNumber));
    return {
      price: quote.totalAmount + (quote.markup ?? 0),
      markup: quote.markup ?? 0,
      offerSellerId: quote.sellerId,
      ...(quote.sku !== undefined && { sku: quote.sku }),
      quoteId: quote._id,
      barredBy: (own) => buildPaymentBar(bill, live?.createdAt ?? lookedAt, { ended, own }),
    };
  });
}

/** Returns the newest open, unclaimed and unexpired quote of the bill, or null. */
async function findPayableQuote(bill: BillKey): Promise<OpenQuote | null> {
  const past = await QuoteModel.find(bill).sort({ createdAt: -1 }).limit(quotesMax).lean<Quote[]>();
  const quote = past.find(({ status, usedBy }) => status === 'open' && usedBy === null);
  return quote && isOpenQuote(quote) && quote.expiresAt > now() ? quote : null;
}

/**
 * Returns the ids of payments of the bill that ended at or after `since`.
 * @throws ConflictError if a payment of the bill is still open.
 */
async function findEndedPayments(bill: BillKey, since: Date): Promise<string[]> {
  // Null sorts first, so an open payment is always in the result.
  const payments = await PurchaseModel.find(buildOpenOrEndedFilter(bill, since), { refId: 1, finalAt: 1 })
    .sort({ finalAt: 1 })
    .limit(endedPaymentsMax)
    .lean<Pick<Purchase, '_id' | 'refId' | 'finalAt'>[]>();
  return payments.map(({ _id, refId, finalAt }) => {
    if (finalAt === null) {
      throw new ConflictError(say('billBeingPaidByYou', { ref: refId }), { reason: 'bill_being_paid' });
    }
    return _id;
  });
}

/**
 * Makes the posting fail if another payment of the bill is open or ended at or after `since`. Such
 * a payment was accepted concurrently, so the inquiry may have been sent before that payment ended.
 *
 * Payments in `ended` had already ended when they were read. They are excluded by id and not by
 * time, because the clock of their process may be ahead. A payment in `ended` that is open again
 * still bars the posting: a failover may have rolled back its end.
 */
function buildPaymentBar(bill: BillKey, since: Date, { ended, own }: { ended: string[]; own: string }): Bar {
  const { accountId, productCode, customerNumber } = bill;
  return {
    collection: purchases.collectionName,
    rivals: `${accountId} ${productCode} ${customerNumber}`,
    filter: {
      ...buildOpenOrEndedFilter(bill, since),
      _id: { $ne: own },
      $or: [{ finalAt: null }, { _id: { $nin: ended } }],
    },
  };
}

/** Uses the index account_bill_ended, which reads only the matching payments of the bill. */
function buildOpenOrEndedFilter({ accountId, productCode, customerNumber }: BillKey, at: Date) {
  return {
    accountId,
    kind: 'postpaid' as const,
    productCode,
    customerNumber,
    finalAt: { $not: { $lt: at } },
  };
}
