import { now } from '../../shared/clock.js';
import { ConflictError } from '../../shared/errors.js';
import { acceptPurchase } from './accept-purchase.js';
import { newPurchase } from './new-purchase.js';
import { findByRef, refuseAbove, replay, type AcceptedPurchase } from './replay.js';
import { QuoteGoneError } from '../../bills/claim-quote.js';
import { billOf, inquireBill, isOpen, type BillRequest, type OpenQuote } from '../../bills/inquire-bill.js';
import { QuoteModel, type Quote } from '../../bills/quote.model.js';

export interface PaymentRequest extends BillRequest {
  refId: string;
  /** Rupiah; refuse if the bill is higher now. */
  maxPrice?: number | undefined;
}

/**
 * Pays a bill (docs/interface.md#bills): claims the newest live quote of the same account, product and customer and
 * debits its total; with no live quote it makes the inquiry itself. A worker pays the biller.
 *
 * Invariants: those of createPurchase, and a quote is paid once.
 * @throws what inquireBill and createPurchase throw.
 */
export async function createPayment(request: PaymentRequest): Promise<AcceptedPurchase> {
  const wanted = { ...request, kind: 'postpaid' as const };
  const known = await findByRef(request.account._id, request.refId);
  if (known) {
    return replay(known, wanted);
  }
  const { product, customerNumber } = await billOf(request);
  const quote = (await newestQuote(request, customerNumber)) ?? (await inquireBill(request));
  refuseAbove(request.maxPrice, quote.totalAmount);
  const purchase = newPurchase({
    accountId: request.account._id,
    refId: request.refId,
    surface: 'buyer',
    kind: 'postpaid',
    product,
    customerNumber,
    price: quote.totalAmount,
    quoteId: quote._id,
    callbackUrl: null,
  });
  try {
    return await acceptPurchase(purchase, wanted);
  } catch (error) {
    if (error instanceof QuoteGoneError) {
      throw new ConflictError('This bill is being paid by another request. Nothing was debited.', {
        cause: error,
      });
    }
    throw error;
  }
}

async function newestQuote(request: PaymentRequest, customerNumber: string): Promise<OpenQuote | null> {
  const quote = await QuoteModel.findOne({
    accountId: request.account._id,
    productCode: request.productCode,
    customerNumber,
    status: 'open',
    usedBy: null,
    expiresAt: { $gt: now() },
  })
    .sort({ createdAt: -1 })
    .lean<Quote>();
  return quote && isOpen(quote) ? quote : null;
}
