import type { Account } from '../accounts/account.model.js';
import { requireSellableProduct } from '../products/check-item.js';
import { normalizeCustomerNumber } from '../products/customer-number.js';
import { findProduct } from '../products/find-product.js';
import type { Product } from '../products/product.model.js';
import { endOfBusinessDay } from '../shared/business-time.js';
import { now } from '../shared/clock.js';
import {
  ConflictError,
  InvalidCustomerNumberError,
  MaintenanceError,
  NotFoundError,
  type AppError,
} from '../shared/errors.js';
import { say } from '../shared/say.js';
import { newId } from '../shared/ids.js';
import { createProofSalt } from '../money/closes/canonical-text.js';
import { addAndWait } from '../jobs/add-job.js';
import { requireRoute } from '../providers/route-or-refuse.js';
import { answerInquiryJob } from './answer-inquiry.job.js';
import { QuoteModel, type Quote, type QuoteRefusal } from './quote.model.js';

/** A bill that can be paid: its amounts are there. Rupiah. */
export type OpenQuote = Quote & {
  status: 'open';
  customerName: string;
  billPeriod: string;
  totalBill: number;
  adminFee: number;
  totalAmount: number;
};

export interface BillRequest {
  account: Account;
  productCode: string;
  customerNumber: string;
}

/** The worker asks the provider; the client waits no longer than this. */
const waitMs = 10_000;

/**
 * Asks for a bill (docs/reference/api/bills.md). Moves no money.
 * @throws NotFoundError (404/02) no such product, and what askForBill throws.
 */
export async function inquireBill(request: BillRequest): Promise<OpenQuote> {
  const { account, productCode } = request;
  const found = await findProduct(productCode);
  const customerNumber = normalizeCustomerNumber(found?.customerNumber.kind, request.customerNumber);
  const product = requireSellableProduct(found, { productCode, kind: 'postpaid', customerNumber });
  return askForBill(account._id, product, customerNumber);
}

/**
 * Asks a biller and keeps the answer as a quote until the end of the business day. The provider is asked by a worker;
 * the web tier only waits for it.
 * @param customerNumber Normalised and checked.
 * @throws NotFoundError (404/02) no bill; InvalidCustomerNumberError (422/04); ConflictError (409/01) already
 *   paid; MaintenanceError or DependencyError (503/03) when nobody could tell: ask again later.
 */
export async function askForBill(
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
    status: 'asked',
    customerName: null,
    billPeriod: null,
    totalBill: null,
    adminFee: null,
    totalAmount: null,
    refusal: null,
    usedBy: null,
    createdAt: now(),
    expiresAt: endOfBusinessDay(),
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
