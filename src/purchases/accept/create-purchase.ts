import type { Account } from '../../accounts/account.model.js';
import { productByCode } from '../../products/find-product.js';
import { checkCustomerNumber, normalizeCustomerNumber } from '../../products/customer-number.js';
import { acceptPurchase } from './accept-purchase.js';
import { newPurchase } from './new-purchase.js';
import { findByRef, refuseAbove, replay, type AcceptedPurchase } from './replay.js';
import { requirePrepaid } from '../../products/require-category.js';
import { routeOrRefuse } from '../../providers/route-or-refuse.js';
import type { Surface } from '../purchase.model.js';

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

/**
 * Accepts a prepaid purchase (docs/interface.md#purchases): the wallet is debited and the purchase stands before this
 * returns; a worker fulfils it.
 *
 * Invariants: one debit per {account, ref_id} for ever, however many calls arrive and whatever crashes; the
 * debit never exceeds the balance; a thrown error means that no purchase exists because of this call.
 * @throws NotFoundError, MaintenanceError, InvalidCustomerNumberError, ConflictError, InsufficientBalanceError,
 *   DependencyError (nothing was done, or the same ref_id tells what was).
 */
export async function createPurchase(request: PurchaseRequest): Promise<AcceptedPurchase> {
  const wanted = { ...request, kind: 'prepaid' as const };
  const known = await findByRef(request.account._id, request.refId);
  if (known) {
    return replay(known, wanted);
  }
  const product = await productByCode(request.productCode);
  requirePrepaid(product);
  const customerNumber = normalizeCustomerNumber(product.customerNumber.kind, request.customerNumber);
  checkCustomerNumber(product.customerNumber, customerNumber);
  const route = await routeOrRefuse(product);
  refuseAbove(request.maxPrice, route.price);

  const purchase = newPurchase({
    accountId: request.account._id,
    refId: request.refId,
    surface: request.surface,
    kind: 'prepaid',
    product,
    customerNumber,
    price: route.price,
    quoteId: null,
    callbackUrl: request.callbackUrl ?? null,
  });
  return acceptPurchase(purchase, wanted);
}
