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
  order: Pick<Order, 'transactionId' | 'n' | 'sellerId' | 'offerPrice' | 'commissionRate'> & {
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

/** Of an order that did not leave us in its time: it says nothing about its seller, who is asked again at once. */
export const tooLateCode = 'too-late';

/** Codes of orders that certainly never bought anything, so that the same seller may be tried again. */
export const notExecutedCodes: readonly string[] = ['not-sent', 'not-executed', tooLateCode];

/** A seller that could not be reached is left alone for this long. */
const retryPauseMs = 5_000;

/** The orders of a purchase, oldest first. Those that ask at the same time share a query. */
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

/** From the claim of an order until the request must have left. */
export const sendWithinMs = 3_000;

/** From the claim of a status check. Where real money moves the next one may be claimed two seconds later at the earliest. */
export const checkWithinMs = 2_000;

/**
 * What the provider is asked for, or about: nobody asks without saying until when. Its reference is ours, never the client's.
 */
export function buildProviderOrder(purchase: Purchase, order: Order, sendBefore: Date): ProviderOrder {
  if (purchase.proofs) {
    throw new Error(`Transaction ${purchase._id} is masked: no provider can be asked about it`);
  }
  return {
    providerRef: order._id,
    productCode: purchase.productCode,
    customerNumber: purchase.customerNumber,
    costMax: order.offerPrice,
    // A status check must ask for what was sent: a bill's payment and a purchase are different calls.
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
 * The next order, of which nothing is written yet: at the offer that the purchase was accepted at, then at the cheapest
 * seller that can serve within the price debited, less its markup, and has not refused this purchase.
 * @param options.unreachable Sellers that cannot be asked for a reason of ours. `turnAt`: as of `RouteQuery`.
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
    accepted: { sellerId: purchase.offerSellerId, price },
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
    // A bill costs what it says, whatever the seller's offer adds to it.
    offerPrice: purchase.kind === 'postpaid' ? price : choice.price,
    commissionRate: choice.commissionRate,
    provider: choice.provider,
  });
}

function isRefused({ code }: Order): boolean {
  return !notExecutedCodes.includes(code ?? '');
}

/** It did not reach its seller in time or at all, or was not executed, and the seller has not refused another of the purchase. */
function mayRetrySeller(order: Order, all: Order[]): boolean {
  return !isRefused(order) && !all.some((each) => each.sellerId === order.sellerId && isRefused(each));
}

/** Whoever refused it, and whoever could not be reached a moment ago. */
function getSellersToAvoid(before: Order[]): string[] {
  const pauseEndsMs = nowMs() - retryPauseMs;
  return before
    .filter((each) => each.code !== tooLateCode)
    .filter((each) => isRefused(each) || each.updatedAt.getTime() > pauseEndsMs)
    .map((each) => each.sellerId);
}

/** What the provider answered; an error, which is in the log, where nothing was sent as its time was over or nobody knew the time. */
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
    logger.warn('a provider was not asked in time', {
      ...getLogFields(purchase),
      order: n,
      sellerId,
      why: error.message,
    });
    return error;
  }
}
