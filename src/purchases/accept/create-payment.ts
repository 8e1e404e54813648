import { askForBill, isOpenQuote, type OpenQuote } from '../../bills/inquire-bill.js';
import { QuoteModel, type Quote } from '../../bills/quote.model.js';
import type { Bar } from '../../money/posting/posting.js';
import { now } from '../../shared/clock.js';
import { ConflictError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { PurchaseModel, purchases, type Purchase } from '../purchase.model.js';
import { acceptPurchase, type AcceptedPurchase, type PurchaseRequest } from './accept-purchase.js';

/** Quotes of a bill that are looked at, the newest first: where none of them is live, the biller is asked anew. */
const quotesMax = 50;
/** Payments of a bill that have ended since its quote was asked for, of which we know that they have. */
const endedPaymentsMax = 10;

type BillKey = Pick<Quote, 'accountId' | 'productCode' | 'customerNumber'>;

/**
 * Pays a bill (docs/reference/api/bills.md): claims the newest live quote of the same account, product and customer and
 * debits its total; with no live quote it makes the inquiry itself. A worker pays the biller.
 *
 * Invariants: those of acceptPurchase; a quote is paid once; of an account one payment of a bill is under way at a time, and the
 * next has asked the biller after that one had ended. Both are asked of the payments (decision 009).
 * @throws ConflictError (409/01) while another payment of the bill is under way, and what askForBill and acceptPurchase throw.
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

/** The one to pay, unless a payment of the bill has ended since it was asked for. */
async function findPayableQuote(bill: BillKey): Promise<OpenQuote | null> {
  const past = await QuoteModel.find(bill).sort({ createdAt: -1 }).limit(quotesMax).lean<Quote[]>();
  const quote = past.find(({ status, usedBy }) => status === 'open' && usedBy === null);
  return quote && isOpenQuote(quote) && quote.expiresAt > now() ? quote : null;
}

/** Ids of payments of the bill that have ended, not before `since`. @throws ConflictError if one has not ended. */
async function findEndedPayments(bill: BillKey, since: Date): Promise<string[]> {
  // An open one is the first.
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
 * Payments of the bill that are open or have ended since, except the one to be debited and those that had `ended` when we
 * looked (their clock may be ahead of ours). If there is one, it was accepted meanwhile: the biller may have been asked
 * before its end, so this payment must not stand. One of `ended` that is open again also counts: a new primary may have
 * lost its end.
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

/** By the index account_bill_ended: of the payments of a bill it names those alone. */
function buildOpenOrEndedFilter({ accountId, productCode, customerNumber }: BillKey, at: Date) {
  return {
    accountId,
    kind: 'postpaid' as const,
    productCode,
    customerNumber,
    finalAt: { $not: { $lt: at } },
  };
}
