import { normalizeCustomerNumber } from '../../products/customer-number.js';
import { ConflictError } from '../../shared/errors.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';

export interface AcceptedPurchase {
  purchase: Purchase;
  /** False: this ref_id was accepted before, and `purchase` is what became of it. */
  created: boolean;
}

/** What a client asked for, as far as it tells one purchase from another. */
export interface WantedPurchase {
  refId: string;
  productCode: string;
  customerNumber: string;
  kind: Purchase['kind'];
}

export async function findByRef(accountId: string, refId: string): Promise<Purchase | null> {
  return PurchaseModel.findOne({ accountId, refId }).lean<Purchase>();
}

/** The purchase that a duplicate key has just told of. */
export async function storedByRef(accountId: string, refId: string): Promise<Purchase> {
  const stored = await findByRef(accountId, refId);
  if (!stored) {
    throw new Error(`A ref_id of account ${accountId} is taken but cannot be found`);
  }
  return stored;
}

/**
 * The same request again gets the purchase as it is now (docs/interface.md#ref_id).
 * @throws ConflictError (409/01) for another request under the same ref_id.
 */
export function replay(purchase: Purchase, request: WantedPurchase): AcceptedPurchase {
  const customerNumber = normalizeCustomerNumber(purchase.customerRule, request.customerNumber);
  const same =
    purchase.kind === request.kind &&
    purchase.productCode === request.productCode &&
    purchase.customerNumber === customerNumber;
  if (!same) {
    throw new ConflictError(
      `ref_id ${request.refId} was used for another purchase. Use a new ref_id for a new purchase.`,
    );
  }
  return { purchase, created: false };
}

/** @throws ConflictError (409/01): the price rose above what the client accepts. Both in rupiah. */
export function refuseAbove(maxPrice: number | undefined, price: number): void {
  if (maxPrice !== undefined && price > maxPrice) {
    const message = `The price is now ${price}, more than max_price ${maxPrice}. Nothing was bought.`;
    throw new ConflictError(message, { errors: [{ field: 'max_price', message }] });
  }
}
