import { askForBill, isOpenQuote, type OpenQuote } from '../../bills/inquire-bill.js';
import { QuoteModel, type Quote } from '../../bills/quote.model.js';
import type { Bar } from '../../money/posting/posting.js';
import { now } from '../../shared/clock.js';
import { ConflictError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { PurchaseModel, purchases, type Purchase } from '../purchase.model.js';
import { acceptPurchase, type AcceptedPurchase, type PurchaseRequest } from './accept-purchase.js';

/**
 * Newest quotes of a bill that are searched. If none of them is payable, the biller is asked again.
 */
const quotesMax = 50;
/** Maximum number of payments read that ended since the quote was requested. */
const endedPaymentsMax = 10;

type BillKey = Pick<Quote, 'accountId' | 'productCode' | 'customerNumber'>;

/**
 * Pays a bill (docs/reference/api/bills.md). Claims the newest payable quote of the same account,
 * product and customer, and debits its total. Without such a quote it makes the inquiry itself. A
 * worker pays the biller.
 *
 * Invariants: those of acceptPurchase. A quote is paid once. An account has at most one payment of
 * a bill in progress. A later payment uses a quote requested after the earlier one ended (decision
 * 009).
 * @throws ConflictError (409/01) while another payment of the bill is in progress, and what
 *   askForBill and acceptPurchase throw.
 */
export function createPayment(request: PurchaseRequest): Promise<AcceptedPurchase> {
  const { account } = request;
  return acceptPurchase('postpaid', request, async (product, customerNumber) => {
    const bill = { accountId: account._id, productCode: product._id, customerNumber };
    const lookedAt = now();
    const found = await findPayableQuote(bill);
    const ended = await findEndedPayments(bill, found?.createdAt ?? lookedAt);
    const live = ended.length === 0 ? found : null;
    const quote = live ?? (await askForBill(account._id, product, customerNumber));
    return {
      price: quote.totalAmount + (quote.markup ?? 0),
      markup: quote.markup ?? 0,
      offerSellerId: quote.sellerId,
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
 * @throws ConflictError if one is still open.
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
 * Bars the posting if another payment of the bill is open or ended since `since`. Such a payment
 * was accepted concurrently, so the biller may have been asked before it ended.
 *
 * Payments in `ended` had ended when they were read. They are excluded by id, because their clock
 * may be ahead of ours. They count again if they are open: a new primary may have lost their end.
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

/** Served by the index account_bill_ended, which reads only these payments of the bill. */
function buildOpenOrEndedFilter({ accountId, productCode, customerNumber }: BillKey, at: Date) {
  return {
    accountId,
    kind: 'postpaid' as const,
    productCode,
    customerNumber,
    finalAt: { $not: { $lt: at } },
  };
}
