import type { Account } from '../../accounts/account.model.js';
import { tryToAddJob } from '../../jobs/add-job.js';
import { checkItem } from '../../products/check-item.js';
import { normalizeCustomerNumber } from '../../products/customer-number.js';
import { findProduct } from '../../products/find-product.js';
import type { Product } from '../../products/product.model.js';
import { ConflictError, InsufficientBalanceError } from '../../shared/errors.js';
import { fulfilPurchaseJob } from '../fulfil/fulfil-purchase.job.js';
import { PurchaseModel, type Purchase, type Surface } from '../purchase.model.js';
import { debitPurchase } from './debit-purchase.js';
import { newPurchase } from './new-purchase.js';

/** What a client asks for. */
export interface PurchaseRequest {
  account: Account;
  surface: Surface;
  productCode: string;
  customerNumber: string;
  refId: string;
  /** Rupiah; refuse if the price is higher now. */
  maxPrice?: number | undefined;
  callbackUrl?: string | null | undefined;
}

export interface AcceptedPurchase {
  purchase: Purchase;
  /** False: this ref_id was accepted before, and `purchase` is what became of it. */
  created: boolean;
}

/** What a product costs now, in rupiah, and the quote that is paid, if it is a bill. */
export type Pricing = (
  product: Product,
  customerNumber: string,
) => Promise<Pick<Purchase, 'price' | 'quoteId'>>;

/**
 * Accepts a purchase or a payment: known, checked, priced, debited, and only then is there a job. If the process dies
 * before the job, the sweep finds the purchase.
 *
 * Invariants: one debit per {account, ref_id} for ever, however many calls arrive and whatever crashes; the debit
 * never exceeds the balance; a thrown error means that no purchase exists because of this call.
 * @throws NotFoundError, ValidationError, InvalidCustomerNumberError, ConflictError, InsufficientBalanceError,
 *   DependencyError (nothing was done, or the same ref_id tells what was), and what `pricing` throws.
 */
export async function acceptPurchase(
  kind: Purchase['kind'],
  request: PurchaseRequest,
  pricing: Pricing,
): Promise<AcceptedPurchase> {
  const { account, surface, productCode, refId, maxPrice } = request;
  const found = await findProduct(productCode);
  const customerNumber = normalizeCustomerNumber(found?.customerNumber.kind, request.customerNumber);
  const wanted = { accountId: account._id, refId, kind, productCode, customerNumber };
  const known = await findByRef(wanted);
  if (known) {
    return replay(known, wanted);
  }
  try {
    const product = checkItem(found, wanted);
    const { price, quoteId } = await pricing(product, customerNumber);
    if (maxPrice !== undefined && price > maxPrice) {
      const message = `The price is now ${price}, more than max_price ${maxPrice}. Nothing was bought.`;
      throw new ConflictError(message, { errors: [{ field: 'max_price', message }] });
    }
    const purchase = newPurchase({
      accountId: account._id,
      ...{ refId, surface, kind, product, customerNumber, price, quoteId },
      callbackUrl: request.callbackUrl ?? null,
    });
    return await debit(purchase, wanted);
  } catch (refusal) {
    // Another process may have accepted this very ref_id meanwhile: what it took (the balance, the quote) is why this
    // call is refused, and the client must hear of the purchase instead.
    const accepted = await findByRef(wanted);
    if (accepted) {
      return replay(accepted, wanted);
    }
    throw refusal;
  }
}

async function debit(purchase: Purchase, wanted: Wanted): Promise<AcceptedPurchase> {
  switch (await debitPurchase(purchase)) {
    case 'debited':
      await tryToAddJob(fulfilPurchaseJob, { purchaseId: purchase._id });
      return { purchase, created: true };
    case 'insufficient':
      throw new InsufficientBalanceError();
    case 'duplicate':
      return replay(await findByRef(wanted), wanted);
  }
}

/** What tells one purchase of an account from another. */
type Wanted = Pick<Purchase, 'accountId' | 'refId' | 'kind' | 'productCode' | 'customerNumber'>;

async function findByRef({ accountId, refId }: Wanted): Promise<Purchase | null> {
  return PurchaseModel.findOne({ accountId, refId }).lean<Purchase>();
}

/**
 * The same request again gets the purchase as it is now (docs/interface.md#ref_id).
 * @throws ConflictError (409/01) for another request under the same ref_id.
 */
function replay(known: Purchase | null, wanted: Wanted): AcceptedPurchase {
  if (!known) {
    throw new Error(`A ref_id of account ${wanted.accountId} is taken but cannot be found`);
  }
  const isSame =
    known.kind === wanted.kind &&
    known.productCode === wanted.productCode &&
    known.customerNumber === wanted.customerNumber;
  if (!isSame) {
    throw new ConflictError(
      `ref_id ${wanted.refId} was used for another purchase. Use a new ref_id for a new purchase.`,
    );
  }
  return { purchase: known, created: false };
}
