import { getExistingAccount } from '../accounts/find-account.js';
import { findProduct } from '../products/find-product.js';
import { loadMarkups } from '../products/markups-of.js';
import { getAdapter, buildConnection } from '../providers/get-adapter.js';
import type { BillOutcome } from '../providers/adapter.js';
import { QuoteModel, type Quote } from './quote.model.js';

/**
 * Asks the provider for the bill of a quote and writes down what it says, and what this account pays above it by the rules
 * of this moment. Safe to run twice: it buys nothing.
 */
export async function answerInquiry(quoteId: string, accountId: string): Promise<void> {
  const quote = await QuoteModel.findOne({ _id: quoteId, accountId }).lean<Quote>();
  if (quote?.status !== 'asked') {
    return;
  }
  const seller = await getExistingAccount(quote.sellerId);
  const outcome: BillOutcome = seller.provider
    ? await getAdapter(seller.provider.kind).inquireBill(buildConnection(seller), {
        providerRef: quote._id,
        productCode: quote.productCode,
        customerNumber: quote.customerNumber,
      })
    : { outcome: 'unavailable', code: 'NO_PROVIDER', message: 'The seller has no provider' };
  await QuoteModel.updateOne(
    { _id: quoteId, accountId, status: 'asked' },
    { $set: { ...buildQuoteChange(outcome), ...(await findMarkup(quote, outcome)) } },
  );
}

async function findMarkup(
  { accountId, productCode }: Quote,
  outcome: BillOutcome,
): Promise<Pick<Quote, 'markup'>> {
  const product = outcome.outcome === 'bill' ? await findProduct(productCode) : null;
  if (outcome.outcome !== 'bill' || !product) {
    return {};
  }
  const markup = (await loadMarkups(await getExistingAccount(accountId)))(product, outcome.bill.totalAmount);
  return markup > 0 ? { markup } : {};
}

function buildQuoteChange(outcome: BillOutcome): Partial<Quote> {
  switch (outcome.outcome) {
    case 'bill':
      return { status: 'open', ...outcome.bill };
    case 'refused':
      return { status: 'refused', refusal: { reason: outcome.reason, message: outcome.message } };
    case 'unavailable':
      return { status: 'refused', refusal: { reason: 'unavailable', message: outcome.message } };
  }
}
