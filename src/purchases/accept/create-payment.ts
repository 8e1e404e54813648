import { askForBill, isOpen, type OpenQuote } from '../../bills/inquire-bill.js';
import { QuoteModel, quotes, type Quote } from '../../bills/quote.model.js';
import type { Bar } from '../../money/posting/posting.js';
import { now } from '../../shared/clock.js';
import { ConflictError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';
import { acceptPurchase, type AcceptedPurchase, type PurchaseRequest } from './accept-purchase.js';

/** Quotes of a bill that are looked at, the newest first. */
const quotesMax = 50;

type Bill = Pick<Quote, 'accountId' | 'productCode' | 'customerNumber'>;

/**
 * Pays a bill (docs/interface.md#bills): claims the newest live quote of the same account, product and customer and
 * debits its total; with no live quote it makes the inquiry itself. A worker pays the biller.
 *
 * Invariants: those of acceptPurchase; a quote is paid once; of an account one payment of a bill is under way at a time, and the
 * next has asked the biller after that one had ended.
 * @throws ConflictError (409/01) while another payment of the bill is under way, and what askForBill and acceptPurchase throw.
 */
export function createPayment(request: PurchaseRequest): Promise<AcceptedPurchase> {
  const { account } = request;
  return acceptPurchase('postpaid', request, async (product, customerNumber) => {
    const bill = { accountId: account._id, productCode: product._id, customerNumber };
    const past = await QuoteModel.find(bill).sort({ createdAt: -1 }).limit(quotesMax).lean<Quote[]>();
    const endedMs = await lastPaymentEndedMs(bill, past);
    const quote = liveQuote(past, endedMs) ?? (await askForBill(account._id, product, customerNumber));
    return {
      ...{ price: quote.totalAmount + (quote.markup ?? 0), markup: quote.markup ?? 0 },
      ...{ offerSellerId: quote.sellerId, quoteId: quote._id },
      barredBy: paidSince(bill, past),
    };
  });
}

/** @throws ConflictError if one has not ended. */
async function lastPaymentEndedMs({ accountId }: Bill, past: Quote[]): Promise<number> {
  const ids = past.flatMap(({ usedBy }) => usedBy ?? []);
  if (ids.length === 0) {
    return 0;
  }
  const payments = await PurchaseModel.find({ accountId, _id: { $in: ids } }, { refId: 1, finalAt: 1 }).lean<
    Pick<Purchase, 'refId' | 'finalAt'>[]
  >();
  return Math.max(
    ...payments.map(({ refId, finalAt }) => {
      if (finalAt === null) {
        throw new ConflictError(say('billBeingPaidByYou', { ref: refId }), { reason: 'bill_being_paid' });
      }
      return finalAt.getTime();
    }),
  );
}

/** What was asked for before a payment had ended says nothing about what is left of the bill. */
function liveQuote(past: Quote[], endedMs: number): OpenQuote | null {
  const quote = past.find(({ status, usedBy }) => status === 'open' && usedBy === null);
  return quote && isOpen(quote) && quote.expiresAt > now() && quote.createdAt.getTime() > endedMs
    ? quote
    : null;
}

/**
 * Quotes of the bill that no payment had as we looked. One that has when this is debited is of a payment that was accepted
 * meanwhile: the biller may have been asked before that, so this one must not stand.
 */
function paidSince({ accountId, productCode, customerNumber }: Bill, past: Quote[]): Bar {
  const [oldest] = past.length === quotesMax ? past.slice(-1) : [];
  return {
    collection: quotes.collectionName,
    rivals: `${accountId} ${productCode} ${customerNumber}`,
    filter: {
      ...{ accountId, productCode, customerNumber },
      ...(oldest && { createdAt: { $gte: oldest.createdAt } }),
      _id: { $nin: past.filter(({ usedBy }) => usedBy !== null).map(({ _id }) => _id) },
    },
  };
}
