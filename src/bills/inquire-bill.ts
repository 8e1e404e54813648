import Joi from 'joi';
import { defineJob, defineQueue } from '../jobs/define-job.js';
import type { Account } from '../accounts/account.model.js';
import { requireSellableProduct, normalizeCustomerNumber } from '../products/customer-number.js';
import { findProduct } from '../products/read-products.js';
import type { Product } from '../products/product.model.js';
import { getEndOfBusinessDay } from '../shared/business-time.js';
import { now } from '../shared/clock.js';
import {
  ConflictError,
  InvalidCustomerNumberError,
  MaintenanceError,
  NotFoundError,
  type AppError,
} from '../shared/errors.js';
import { logger } from '../shared/logger.js';
import { say } from '../shared/say.js';
import { newId } from '../shared/ids.js';
import { createProofSalt } from '../money/closes/canonical-text.js';
import { addAndWait } from '../jobs/add-job.js';
import { requireRoute } from '../providers/require-route.js';
import { QuoteModel, type Quote, type QuoteRefusal } from './quote.model.js';
import { getExistingAccount } from '../accounts/find-account.js';
import { loadMarkups } from '../products/markups.js';
import { getAdapter, buildConnection } from '../providers/get-adapter.js';
import type { BillOutcome } from '../providers/adapter.js';

interface InquiryData {
  inquiryId: string;
  /** The buyer. */
  accountId: string;
}

/** Queries a provider for a bill while the client waits. */
export const answerInquiryJob = defineJob<InquiryData>({
  queue: defineQueue({
    name: 'inquiries',
    does: 'Queries providers for bills and meter owners',
    concurrency: 50,
  }),
  name: 'inquiries',
  version: 2,
  data: Joi.object({ inquiryId: Joi.string(), accountId: Joi.string() }),
  subject: ({ inquiryId }) => inquiryId,
  mayBeLost: true,
});

/** A payable bill with all its amounts, in rupiah. */
export type OpenQuote = Quote & {
  status: 'open';
  customerName: string;
  totalBill: number;
  adminFee: number;
  totalAmount: number;
};

export interface BillRequest {
  account: Account;
  productCode: string;
  customerNumber: string;
}

/** Maximum time in milliseconds that a client waits for the worker. */
const waitMs = 10_000;

/**
 * Makes a bill inquiry (docs/reference/api/bills.md). This moves no money.
 * @throws NotFoundError (404/02) if there is no such product.
 * @throws The errors of requestBillQuote.
 */
export async function inquireBill(request: BillRequest): Promise<OpenQuote> {
  const { account, productCode } = request;
  const found = await findProduct(productCode);
  const customerNumber = normalizeCustomerNumber(found?.customerNumber.kind, request.customerNumber);
  const product = requireSellableProduct(found, { productCode, kind: 'postpaid', customerNumber });
  return requestBillQuote(account._id, product, customerNumber);
}

/**
 * Makes a bill inquiry and stores the result as a quote that is valid until the end of the business
 * day. A worker queries the provider; the web process only waits.
 *
 * @param customerNumber The normalised and validated customer number.
 * @throws NotFoundError (404/02) if there is no bill.
 * @throws InvalidCustomerNumberError (422/04) if the biller does not know the number.
 * @throws ConflictError (409/01) if the bill is already paid.
 * @throws MaintenanceError or DependencyError (503/03) if no result is available. The client can
 *   retry later.
 */
export async function requestBillQuote(
  accountId: string,
  product: Product,
  customerNumber: string,
): Promise<OpenQuote> {
  const route = await requireRoute(product);
  const quote: Quote = {
    _id: newId(),
    accountId,
    productCode: product._id,
    customerNumber,
    sellerId: route.sellerId,
    ...(route.sku !== product._id && { sku: route.sku }),
    status: 'asked',
    customerName: null,
    billPeriod: null,
    totalBill: null,
    adminFee: null,
    totalAmount: null,
    refusal: null,
    usedBy: null,
    createdAt: now(),
    expiresAt: getEndOfBusinessDay(),
    proofSalt: createProofSalt(),
  };
  await QuoteModel.create(quote);
  await addAndWait(answerInquiryJob, { inquiryId: quote._id, accountId }, { timeoutMs: waitMs });
  const answered = await QuoteModel.findOne({ _id: quote._id, accountId }).lean<Quote>();
  if (answered && isOpenQuote(answered)) {
    return answered;
  }
  throw toInquiryError(answered?.refusal ?? null);
}

export function isOpenQuote(quote: Quote): quote is OpenQuote {
  return quote.status === 'open';
}

function toInquiryError(refusal: QuoteRefusal | null): AppError {
  switch (refusal?.reason) {
    case 'already-paid':
      return new ConflictError(say('billAlreadyPaid', { said: refusal.message }), {
        reason: 'bill_already_paid',
      });
    case 'wrong-number':
      return new InvalidCustomerNumberError(say('billNumberWrong', { said: refusal.message }));
    case 'no-bill':
    case 'not-sold':
      return new NotFoundError(say('noBill', { said: refusal.message }));
    case 'unavailable':
    case undefined:
      return new MaintenanceError(say('billerSilent'), 60, 'biller_unavailable');
  }
}

/**
 * Queries the provider for the bill of a quote and stores the result with the account's current
 * markup. Safe to run twice, because it buys nothing.
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
        productCode: quote.sku ?? quote.productCode,
        customerNumber: quote.customerNumber,
      })
    : { outcome: 'unavailable', code: 'NO_PROVIDER', message: 'The seller has no provider' };
  if (outcome.outcome === 'unavailable') {
    const { code, message } = outcome;
    logger.warn('a bill inquiry had no result', { quoteId, sellerId: quote.sellerId, code, message });
  }
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
