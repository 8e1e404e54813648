import { accountById } from '../accounts/find-account.js';
import { adapterFor, connectionOf } from '../providers/get-adapter.js';
import type { BillOutcome } from '../providers/adapter.js';
import { QuoteModel, type Quote } from './quote.model.js';

/** Asks the provider for the bill of a quote and writes down what it says. Safe to run twice: it buys nothing. */
export async function answerInquiry(quoteId: string, ofAccount: string | null = null): Promise<void> {
  const quote = await QuoteModel.findOne({
    _id: quoteId,
    ...(ofAccount !== null && { accountId: ofAccount }),
  }).lean<Quote>();
  if (quote?.status !== 'asked') {
    return;
  }
  const seller = await accountById(quote.sellerId);
  const outcome: BillOutcome = seller.provider
    ? await adapterFor(seller.provider.kind).inquireBill(connectionOf(seller), {
        providerRef: quote._id,
        productCode: quote.productCode,
        customerNumber: quote.customerNumber,
      })
    : { outcome: 'unavailable', code: 'NO_PROVIDER', message: 'The seller has no provider' };
  await QuoteModel.updateOne(
    { _id: quoteId, accountId: quote.accountId, status: 'asked' },
    { $set: changeOf(outcome) },
  );
}

function changeOf(outcome: BillOutcome): Partial<Quote> {
  switch (outcome.outcome) {
    case 'bill':
      return { status: 'open', ...outcome.bill };
    case 'refused':
      return { status: 'refused', refusal: { reason: outcome.reason, message: outcome.message } };
    case 'unavailable':
      return { status: 'refused', refusal: { reason: 'unavailable', message: outcome.message } };
  }
}
