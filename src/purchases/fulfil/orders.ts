import type { ProviderSettings } from '../../accounts/account.model.js';
import { now, nowMs } from '../../shared/clock.js';
import { type Order, orders } from '../order.model.js';
import { getSellerPrice } from '../../money/commission.js';
import { batchCalls } from '../../shared/concurrency.js';
import { groupBy } from '../../shared/collections.js';
import type { ProviderOrder, ProviderOutcome } from '../../providers/adapter.js';
import { chooseRoute } from '../../providers/choose-route.js';
import { getQuickCollection } from '../../database/mongo.js';
import type { Purchase } from '../purchase.model.js';
import { LateError } from '../../providers/http.js';
import { logger } from '../../shared/logger.js';
import { getLogFields } from '../purchase-metrics.js';

/** Builds an order that is neither stored nor sent yet. `claimOrder` stores it. */
export function buildOrder(
  order: Pick<
    Order,
    'transactionId' | 'n' | 'sellerId' | 'sku' | 'offerPrice' | 'costMax' | 'commissionRate'
  > & {
    accountId: string;
    provider: Pick<ProviderSettings, 'kind' | 'baseUrl' | 'username'>;
  },
): Order {
  const { provider, ...given } = order;
  const at = now();
  return {
    ...given,
    _id: `${given.transactionId}-${given.n}`,
    providerKind: provider.kind,
    providerBaseUrl: provider.baseUrl,
    providerUsername: provider.username,
    status: 'SENT',
    open: true,
    leaseToken: null,
    leaseUntil: null,
    sentAt: null,
    checks: 0,
    notFound: 0,
    lastCheckAt: null,
    code: null,
    message: null,
    serialNumber: null,
    createdAt: at,
    updatedAt: at,
  };
}

/**
 * Code of an order that was not sent in time. It does not exclude the seller, who is tried again at
 * once.
 */
export const tooLateCode = 'too-late';

/** Codes of orders that certainly bought nothing. The same seller may be tried again after them. */
export const notExecutedCodes: readonly string[] = ['not-sent', 'not-executed', tooLateCode];

/** Pause in milliseconds before a seller that could not be reached is tried again. */
const retryPauseMs = 5_000;

/** Finds the orders of a purchase, oldest first. Concurrent calls share a query. */
export function findOrders({ _id, accountId }: Pick<Purchase, '_id' | 'accountId'>): Promise<Order[]> {
  return loadOrders({ purchaseId: _id, accountId });
}

const loadOrders = batchCalls<{ purchaseId: string; accountId: string }, Order[]>({
  itemsMax: 100,
  async run(wanted) {
    const found = await getQuickCollection(orders)
      .find({
        accountId: { $in: [...new Set(wanted.map(({ accountId }) => accountId))] },
        transactionId: { $in: wanted.map(({ purchaseId }) => purchaseId) },
      })
      .sort({ transactionId: 1, n: 1 })
      .toArray();
    const byPurchase = groupBy(found, (each) => each.transactionId);
    return wanted.map(({ purchaseId }) => byPurchase.get(purchaseId) ?? []);
  },
});

/** Time in milliseconds from the claim of an order until its request must have been sent. */
export const sendWithinMs = 3_000;

/**
 * Time in milliseconds from the claim of a status check until its request must have been sent. With
 * real money, the next check can be claimed two seconds later at the earliest.
 */
export const checkWithinMs = 2_000;

/**
 * Builds the request that sends or checks an order. The request carries our reference, never the
 * client's.
 * @throws Error if the customer number is masked.
 */
export function buildProviderOrder(purchase: Purchase, order: Order, sendBefore: Date): ProviderOrder {
  if (purchase.proofs) {
    throw new Error(`Transaction ${purchase._id} is masked, so its provider cannot be queried`);
  }
  return {
    providerRef: order._id,
    productCode: order.sku ?? purchase.productCode,
    customerNumber: purchase.customerNumber,
    costMax: order.costMax ?? order.offerPrice,
    // A status check must match the request that was sent. Providers have separate calls for paying
    // a bill and for buying a product.
    billTotal: purchase.kind === 'postpaid' ? getSellerPrice(purchase) : null,
    sentAt: order.sentAt,
    lastCheckAt: order.lastCheckAt,
    sendBefore,
  };
}

export interface NoRoute {
  noRoute: { code: string; message: string; mayChange: boolean };
}

/**
 * Prepares the next order without storing it. The offer accepted with the purchase comes first.
 * Next is the cheapest available seller whose price fits the debit less the markup. Sellers that
 * refused this purchase or could not be reached recently are excluded.
 *
 * @param options.unreachable Sellers that cannot be called because our settings for them are
 *   invalid.
 * @param options.turnAt See `RouteQuery`.
 */
export async function prepareNextOrder(
  purchase: Purchase,
  before: Order[],
  {
    unreachable = new Set(),
    turnAt,
  }: { unreachable?: ReadonlySet<string>; turnAt?: string | null | undefined } = {},
): Promise<Order | NoRoute> {
  const price = getSellerPrice(purchase);
  const choice = await chooseRoute({
    productCode: purchase.productCode,
    priceMax: price,
    accepted: { sellerId: purchase.offerSellerId, price, sku: purchase.sku },
    excludeSellerIds: [...getSellersToAvoid(before), ...unreachable],
    ...(turnAt !== undefined && { turnAt }),
  });
  if ('reason' in choice) {
    const last = before.findLast(isRefused);
    return last && !before.some((each) => mayRetrySeller(each, before))
      ? { noRoute: { code: last.code ?? '01', message: last.message ?? 'Refused.', mayChange: false } }
      : { noRoute: { code: '03', message: 'No seller can serve this product now.', mayChange: true } };
  }
  return buildOrder({
    accountId: purchase.accountId,
    transactionId: purchase._id,
    n: before.length + 1,
    sellerId: choice.sellerId,
    ...(choice.sku !== purchase.productCode && { sku: choice.sku }),
    // The bill determines its price, not the offer.
    offerPrice: purchase.kind === 'postpaid' ? price : choice.price,
    ...(purchase.kind === 'prepaid' && choice.costMax !== undefined && { costMax: choice.costMax }),
    commissionRate: choice.commissionRate,
    provider: choice.provider,
  });
}

function isRefused({ code }: Order): boolean {
  return !notExecutedCodes.includes(code ?? '');
}

/** True if the order was not executed and its seller has refused no order of the purchase. */
function mayRetrySeller(order: Order, all: Order[]): boolean {
  return !isRefused(order) && !all.some((each) => each.sellerId === order.sellerId && isRefused(each));
}

/**
 * Returns the sellers that refused the purchase, and those that could not be reached within the
 * last `retryPauseMs`.
 */
function getSellersToAvoid(before: Order[]): string[] {
  const pauseEndsMs = nowMs() - retryPauseMs;
  return before
    .filter((each) => each.code !== tooLateCode)
    .filter((each) => isRefused(each) || each.updatedAt.getTime() > pauseEndsMs)
    .map((each) => each.sellerId);
}

/**
 * Returns the provider's response, or the LateError if nothing was sent in time. Logs a LateError.
 */
export async function catchLateError(
  purchase: Purchase,
  order: Order,
  asked: Promise<ProviderOutcome>,
): Promise<ProviderOutcome | LateError> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof LateError)) {
      throw error;
    }
    const { n, sellerId } = order;
    logger.warn('a request to a provider was not sent in time', {
      ...getLogFields(purchase),
      order: n,
      sellerId,
      why: error.message,
    });
    return error;
  }
}
