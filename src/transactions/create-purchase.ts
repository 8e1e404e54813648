import type { Account } from '../accounts/account.model.js';
import { productByCode } from '../products/find-product.js';
import { checkCustomerNumber, normalizeCustomerNumber } from '../products/customer-number.js';
import type { Product } from '../products/product.model.js';
import { routeOrRefuse } from './route-or-refuse.js';
import { now } from '../shared/clock.js';
import { ConflictError, InsufficientBalanceError } from '../shared/errors.js';
import { newId } from '../shared/ids.js';
import { debitWallet } from '../wallets/debit-wallet.js';
import { enqueuePurchase, sweepAfter } from './enqueue-purchase.js';
import { requirePrepaid } from './require-category.js';
import { TransactionModel, type Surface, type Transaction } from './transaction.model.js';

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
  transaction: Transaction;
  /** False: this ref_id was accepted before, and `transaction` is what became of it. */
  created: boolean;
}

/**
 * Accepts a prepaid purchase (interface 3.1, 4.1, 4.2, 4.4): the wallet is debited and the transaction stands
 * before this returns; a worker fulfils it.
 *
 * Invariants: one debit per {account, ref_id} for ever, however many calls arrive and whatever crashes; the
 * debit never exceeds the balance; a thrown error means that no transaction exists because of this call.
 * @throws NotFoundError, MaintenanceError, InvalidCustomerNumberError, ConflictError, InsufficientBalanceError,
 *   DependencyError (nothing was done, or the same ref_id tells what was).
 */
export async function createPurchase(request: PurchaseRequest): Promise<AcceptedPurchase> {
  const known = await findByRef(request);
  if (known) {
    return replay(known, request);
  }
  const product = await productByCode(request.productCode);
  requirePrepaid(product);
  const customerNumber = normalizeCustomerNumber(product.customerNumber.kind, request.customerNumber);
  checkCustomerNumber(product.customerNumber, customerNumber);
  const route = await routeOrRefuse(product);
  refuseAbove(request.maxPrice, route.price);

  const transaction = newTransaction({ request, product, customerNumber, price: route.price });
  switch (await debitWallet(transaction)) {
    case 'debited':
      await enqueuePurchase(transaction);
      return { transaction, created: true };
    case 'insufficient':
      throw new InsufficientBalanceError();
    case 'duplicate':
      return replay(await storedByRef(request), request);
  }
}

async function findByRef({ account, refId }: PurchaseRequest): Promise<Transaction | null> {
  return TransactionModel.findOne({ accountId: account._id, refId }).lean<Transaction>();
}

async function storedByRef(request: PurchaseRequest): Promise<Transaction> {
  const stored = await findByRef(request);
  if (!stored) {
    throw new Error(`ref_id of account ${request.account._id} is taken but cannot be found`);
  }
  return stored;
}

/** The same request again gets the transaction as it is now; another request under the same ref_id is refused. */
function replay(transaction: Transaction, request: PurchaseRequest): AcceptedPurchase {
  const sameCustomer =
    normalizeCustomerNumber(transaction.customerRule, request.customerNumber) === transaction.customerNumber;
  if (transaction.kind !== 'prepaid' || transaction.productCode !== request.productCode || !sameCustomer) {
    throw new ConflictError(
      `ref_id ${request.refId} was used for another purchase. Use a new ref_id for a new purchase.`,
    );
  }
  return { transaction, created: false };
}

export function refuseAbove(maxPrice: number | undefined, price: number): void {
  if (maxPrice !== undefined && price > maxPrice) {
    const message = `The price is now ${price}, more than max_price ${maxPrice}. Nothing was bought.`;
    throw new ConflictError(message, { errors: [{ field: 'max_price', message }] });
  }
}

function newTransaction(options: {
  request: PurchaseRequest;
  product: Product;
  customerNumber: string;
  price: number;
}): Transaction {
  const { request, product, customerNumber, price } = options;
  const at = now();
  return {
    _id: newId(),
    accountId: request.account._id,
    refId: request.refId,
    surface: request.surface,
    kind: 'prepaid',
    productCode: product._id,
    productName: product.name,
    subcategory: product.subcategory,
    customerNumber,
    customerRule: product.customerNumber.kind,
    price,
    quoteId: null,
    status: 'PENDING',
    version: 0,
    serialNumber: null,
    message: null,
    failureCode: null,
    sellerId: null,
    commissionAmount: null,
    callbackUrl: request.callbackUrl ?? null,
    epoch: 0,
    nextActionAt: sweepAfter(0),
    reviewSince: null,
    pendingNotified: false,
    createdAt: at,
    updatedAt: at,
    finalAt: null,
  };
}
