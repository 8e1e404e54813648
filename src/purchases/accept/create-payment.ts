import { askForBill, isOpen, type OpenQuote } from '../../bills/inquire-bill.js';
import { QuoteModel, type Quote } from '../../bills/quote.model.js';
import { now } from '../../shared/clock.js';
import { acceptPurchase, type AcceptedPurchase, type PurchaseRequest } from './accept-purchase.js';

/**
 * Pays a bill (docs/interface.md#bills): claims the newest live quote of the same account, product and customer and
 * debits its total; with no live quote it makes the inquiry itself. A worker pays the biller.
 *
 * Invariants: those of acceptPurchase, and a quote is paid once.
 * @throws what askForBill and acceptPurchase throw.
 */
export function createPayment(request: PurchaseRequest): Promise<AcceptedPurchase> {
  const { account } = request;
  return acceptPurchase('postpaid', request, async (product, customerNumber) => {
    const bill = { accountId: account._id, productCode: product._id, customerNumber };
    const quote = (await newestQuote(bill)) ?? (await askForBill(account._id, product, customerNumber));
    return { price: quote.totalAmount, offerSellerId: quote.sellerId, quoteId: quote._id };
  });
}

async function newestQuote(
  bill: Pick<Quote, 'accountId' | 'productCode' | 'customerNumber'>,
): Promise<OpenQuote | null> {
  const quote = await QuoteModel.findOne({
    ...bill,
    status: 'open',
    usedBy: null,
    expiresAt: { $gt: now() },
  })
    .sort({ createdAt: -1 })
    .lean<Quote>();
  return quote && isOpen(quote) ? quote : null;
}
