import { findScenario } from '../../../config/sandbox-scenarios.js';
import { isSandbox } from '../../accounts/effective-settings.js';
import type { Account } from '../../accounts/account.model.js';
import type { Product } from '../../products/product.model.js';
import { buildNoRouteError, requireRoute } from '../../providers/require-route.js';
import type { SignKind } from '../../accounts/authenticate-sign.js';
import type { Bar } from '../../money/posting/posting.js';
import { post } from '../../money/posting/post.js';
import { requireSellableProduct, normalizeCustomerNumber } from '../../products/customer-number.js';
import { findProduct } from '../../products/read-products.js';
import { callerFields, type Surface } from '../../shared/caller-fields.js';
import { ConflictError, InsufficientBalanceError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { canMatchMasked } from '../../shared/mask.js';
import { addJobAtProvider } from '../fulfil/schedule-purchase.js';
import { findByRef, findByRefAfterRefusal } from '../find-purchase.js';
import type { Purchase } from '../purchase.model.js';
import { bindSign, findSignRefusal } from './sign-bindings.js';
import { buildPurchase, type NewPurchase, type Price, buildPurchasePosting } from './new-purchase.js';
import { loadMarkups } from '../../products/markups.js';

/**
 * Refuses a sandbox number if no seller serves the product that its scenario buys (decision 033).
 * Purchases of live accounts always pass.
 * @throws MaintenanceError (503/03, `product_unavailable`) if no seller serves the product.
 */
export function refuseUnservedScenario(account: Account, product: Product, customerNumber: string): void {
  if (isSandbox(account) && findScenario(customerNumber)?.isNotServed === true) {
    throw buildNoRouteError(product, { reason: 'maintenance' });
  }
}

export interface PurchaseRequest {
  account: Account;
  surface: Surface;
  productCode: string;
  customerNumber: string;
  refId: string;
  /** Maximum price in rupiah. The purchase is refused if its price is higher. */
  maxPrice?: number | undefined;
  callbackUrl?: string | null | undefined;
  /** Request id of the HTTP call. */
  requestId?: string;
  /** Kind of the `sign` on the reseller surface. Absent on the other surfaces. */
  signedBy?: SignKind;
}

export interface AcceptedPurchase {
  purchase: Purchase;
  /** False if a purchase with this ref_id already exists. `purchase` is then its current state. */
  created: boolean;
}

/**
 * Prices a product for a customer. `barredBy` builds the query for documents that must not exist
 * when the wallet is debited.
 */
export type Pricing = (
  product: Product,
  customerNumber: string,
) => Promise<Price & { barredBy?: (purchaseId: string) => Bar }>;

/**
 * Accepts a purchase or a payment: looks up the ref_id, validates, prices, debits, then adds the
 * job. If the process dies before it adds the job, the sweep adds it.
 *
 * Invariants: each pair of account and ref_id is debited at most once. The debit never exceeds the
 * balance. Any error except DependencyError means that this call created no purchase.
 *
 * @throws NotFoundError, ValidationError, InvalidCustomerNumberError, ConflictError or
 *   InsufficientBalanceError if the request is refused.
 * @throws DependencyError if a dependency is unavailable. Either nothing was done, or a retry with
 *   the same ref_id returns the result.
 * @throws The errors of `pricing`.
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
  const [known, objection] = await Promise.all([
    findByRef(wanted),
    findSignRefusal(request.signedBy, wanted),
  ]);
  if (known) {
    return resolveRepeatedRequest(known, wanted);
  }
  let own: NewPurchase | null = null;
  try {
    if (objection) {
      throw objection;
    }
    const product = requireSellableProduct(found, wanted, callerFields[surface]);
    refuseUnservedScenario(account, product, customerNumber);
    const { barredBy, ...price } = await pricing(product, customerNumber);
    if (maxPrice !== undefined && price.price > maxPrice) {
      const message = say('priceAboveMax', { price: price.price, max: maxPrice });
      throw new ConflictError(message, {
        reason: 'price_above_max',
        errors: [{ field: 'max_price', message }],
      });
    }
    own = buildPurchase({
      accountId: account._id,
      refId,
      surface,
      kind,
      product,
      customerNumber,
      ...price,
      callbackUrl: request.callbackUrl ?? null,
      requestId: request.requestId,
    });
    return await debitPurchase(own, barredBy?.(own._id), wanted);
  } catch (refusal) {
    // A concurrent call with this ref_id may have used the balance or claimed the quote, which
    // causes this refusal. The client must then get the purchase of that call. This call's own
    // posting may also have been committed after the deadline.
    const accepted = await findByRefAfterRefusal(wanted);
    if (accepted) {
      const mine = accepted._id === own?._id ? own : null;
      if (mine) {
        await addJobAtProvider(mine, mine.queuedFor);
      }
      return { ...resolveRepeatedRequest(accepted, wanted), created: mine !== null };
    }
    if (request.signedBy === 'md5' && refusal !== objection) {
      await bindSign(wanted);
    }
    throw refusal;
  }
}

async function debitPurchase(
  purchase: NewPurchase,
  barredBy: Bar | undefined,
  wanted: PurchaseIdentity,
): Promise<AcceptedPurchase> {
  const { queuedFor } = purchase;
  const result = await post(buildPurchasePosting(purchase, barredBy));
  switch (result.outcome) {
    case 'posted':
      await addJobAtProvider(purchase, queuedFor);
      return { purchase, created: true };
    case 'insufficient':
      throw new InsufficientBalanceError({ balance: result.balance, price: purchase.price });
    case 'duplicate':
      return resolveRepeatedRequest(result.stands as Purchase | null, wanted);
    case 'stale':
      throw new ConflictError(say('billBeingPaid'), {
        reason: 'bill_being_paid',
      });
    case 'too-large':
      throw new Error('A debit never makes a balance too large');
  }
}

/** The fields that a repeated request must share with the first one. */
type PurchaseIdentity = Pick<Purchase, 'accountId' | 'refId' | 'kind' | 'productCode' | 'customerNumber'>;

/**
 * Returns the current purchase for a repeated request (docs/reference/api/conventions.md#ref_id).
 * If the purchase is masked, only the unmasked digits are compared. A refusal would make the client
 * retry under a new ref_id, which would buy again (decision 044).
 * @throws ConflictError (409/01) if the ref_id belongs to another request.
 */
function resolveRepeatedRequest(known: Purchase | null, wanted: PurchaseIdentity): AcceptedPurchase {
  if (!known) {
    throw new Error(`A purchase of account ${wanted.accountId} was posted before, but not under its ref_id`);
  }
  const isSame =
    known.kind === wanted.kind &&
    known.productCode === wanted.productCode &&
    (known.proofs
      ? canMatchMasked(known.customerNumber, wanted.customerNumber)
      : known.customerNumber === wanted.customerNumber);
  if (!isSame) {
    throw new ConflictError(say('refIdTaken', { ref: wanted.refId }), { reason: 'ref_id_conflict' });
  }
  return { purchase: known, created: false };
}

/**
 * Accepts a prepaid purchase (docs/reference/api/purchases.md) at the price of the current best
 * offer plus the account's markup. The wallet is debited before this returns; a worker fulfils the
 * purchase.
 * @throws MaintenanceError (503/03) if no seller can serve the product now.
 * @throws The errors of acceptPurchase.
 */
export function createPurchase(request: PurchaseRequest): Promise<AcceptedPurchase> {
  return acceptPurchase('prepaid', request, async (product) => {
    const [route, markupOf] = await Promise.all([requireRoute(product), loadMarkups(request.account)]);
    const markup = markupOf(product, route.price);
    return { price: route.price + markup, markup, offerSellerId: route.sellerId, quoteId: null };
  });
}
