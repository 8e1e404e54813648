import { normalizeCustomerNumber } from '../../products/customer-number.js';
import { ConflictError } from '../../shared/errors.js';
import { TransactionModel, type Transaction } from '../purchase.model.js';

export interface AcceptedPurchase {
  transaction: Transaction;
  /** False: this ref_id was accepted before, and `transaction` is what became of it. */
  created: boolean;
}

/** What a client asked for, as far as it tells one purchase from another. */
export interface WantedPurchase {
  refId: string;
  productCode: string;
  customerNumber: string;
  kind: Transaction['kind'];
}

export async function findByRef(accountId: string, refId: string): Promise<Transaction | null> {
  return TransactionModel.findOne({ accountId, refId }).lean<Transaction>();
}

/** The transaction that a duplicate key has just told of. */
export async function storedByRef(accountId: string, refId: string): Promise<Transaction> {
  const stored = await findByRef(accountId, refId);
  if (!stored) {
    throw new Error(`A ref_id of account ${accountId} is taken but cannot be found`);
  }
  return stored;
}

/**
 * The same request again gets the transaction as it is now (decisions.md 3).
 * @throws ConflictError (409/01) for another request under the same ref_id.
 */
export function replay(transaction: Transaction, request: WantedPurchase): AcceptedPurchase {
  const customerNumber = normalizeCustomerNumber(transaction.customerRule, request.customerNumber);
  const same =
    transaction.kind === request.kind &&
    transaction.productCode === request.productCode &&
    transaction.customerNumber === customerNumber;
  if (!same) {
    throw new ConflictError(
      `ref_id ${request.refId} was used for another purchase. Use a new ref_id for a new purchase.`,
    );
  }
  return { transaction, created: false };
}

/** @throws ConflictError (409/01): the price rose above what the client accepts. Both in rupiah. */
export function refuseAbove(maxPrice: number | undefined, price: number): void {
  if (maxPrice !== undefined && price > maxPrice) {
    const message = `The price is now ${price}, more than max_price ${maxPrice}. Nothing was bought.`;
    throw new ConflictError(message, { errors: [{ field: 'max_price', message }] });
  }
}
