import { env } from '../../config/env.js';
import type { ProviderSettings } from '../accounts/account.model.js';
import type { Offer } from '../products/offer.model.js';
import type { Product, ProductStatus } from '../products/product.model.js';
import { now as currentTime } from '../shared/clock.js';
import { circuitsOf, takeProbe, type CircuitView } from './circuit.js';
import { isInCutOff } from './cut-off.js';
import {
  activeOffers,
  routingProduct,
  routingSellers,
  type RoutingProduct,
  type RoutingSeller,
} from './route-board.js';

export interface RouteQuery {
  productCode: string;
  /** Rupiah. Absent at acceptance, when the price is what is being asked for. */
  priceMax?: number;
  /** A bill goes to the seller whose provider quoted it, if that can serve. */
  preferSellerId?: string | undefined;
  /** Sellers that have already refused this order. */
  excludeSellerIds?: string[];
  now?: Date;
  /** While a circuit is half-open, one order a second may be accepted, and one may be sent. */
  purpose?: 'accept' | 'send';
}

export interface Route {
  sellerId: string;
  /** Rupiah that the seller asks. */
  price: number;
  commissionRate: number;
  providerKind: ProviderSettings['kind'];
}

/**
 * no-offer: nobody sells it (any more, or within the price). cut-off: in its daily window. maintenance: switched
 * off for now, or no seller is able to serve. circuits-open: the sellers that would serve it do not answer.
 */
export type NoRouteReason = 'no-offer' | 'cut-off' | 'maintenance' | 'circuits-open';

/**
 * The cheapest active offer whose seller can serve now; ties go to the better success rate, then to the faster
 * (docs/providers.md#routing).
 */
export async function chooseRoute(query: RouteQuery): Promise<Route | { reason: NoRouteReason }> {
  const { productCode, priceMax = Infinity, excludeSellerIds = [], now = currentTime() } = query;
  const found = await routingProduct(productCode);
  const closed = closedReasonOf(found, now);
  if (!found || closed) {
    return { reason: closed ?? 'no-offer' };
  }
  const wanted = found.offers.filter(
    ({ price, sellerId }) => price <= priceMax && !excludeSellerIds.includes(sellerId),
  );
  if (wanted.length === 0) {
    return { reason: 'no-offer' };
  }
  const sellers = await routingSellers();
  const able = wanted.filter((offer) => canServe(sellers.get(offer.sellerId), offer, now));
  if (able.length === 0) {
    return { reason: 'maintenance' };
  }
  const circuits = await circuitsOf(able.map(({ sellerId }) => sellerId));
  for (const offer of inOrder(able, circuits, query.preferSellerId)) {
    const seller = sellers.get(offer.sellerId);
    if (seller?.provider && (await isOpenFor(seller._id, circuits, query.purpose ?? 'send'))) {
      return {
        sellerId: seller._id,
        price: offer.price,
        commissionRate: seller.commissionRate ?? env.COMMISSION_RATE,
        providerKind: seller.provider.kind,
      };
    }
  }
  return { reason: 'circuits-open' };
}

/**
 * What the price lists show, by code: the cheapest offer that can serve now, or `maintenance` with the cheapest
 * offer when none can. A product that nobody offers is missing. Prices in rupiah.
 */
export async function bestPrices(
  products: Pick<Product, '_id' | 'status' | 'cutOff'>[],
  at: Date = currentTime(),
): Promise<Map<string, { price: number; status: ProductStatus }>> {
  const [offersOf, sellers] = await Promise.all([
    activeOffers(products.map(({ _id }) => _id)),
    routingSellers(),
  ]);
  const circuits = await circuitsOf([...sellers.keys()]);
  const best = new Map<string, { price: number; status: ProductStatus }>();
  for (const product of products) {
    const offers = [...(offersOf.get(product._id) ?? [])].sort((a, b) => a.price - b.price);
    const [cheapest] = offers;
    if (cheapest) {
      const open = closedReasonOf({ product, offers }, at)
        ? undefined
        : offers.find(
            (offer) =>
              canServe(sellers.get(offer.sellerId), offer, at) &&
              circuits.get(offer.sellerId)?.state !== 'open',
          );
      const status = product.status === 'inactive' ? 'inactive' : open ? 'active' : 'maintenance';
      best.set(product._id, { price: (open ?? cheapest).price, status });
    }
  }
  return best;
}

/** What closes a product whoever would serve it, or null. */
function closedReasonOf(found: RoutingProduct | null, at: Date): NoRouteReason | null {
  if (!found || found.product.status === 'inactive') {
    return 'no-offer';
  }
  if (found.product.status === 'maintenance') {
    return 'maintenance';
  }
  return isInCutOff(found.product.cutOff, at) ? 'cut-off' : null;
}

function canServe(seller: RoutingSeller | undefined, offer: Offer, at: Date): boolean {
  if (!seller?.provider || seller.status !== 'active' || seller.state?.paused) {
    return false;
  }
  const float = seller.state?.floatAmount ?? null;
  const hasFloat = float === null || float >= (offer.cost ?? offer.price);
  return hasFloat && offer.providerAvailable !== false && !isInCutOff(offer.cutOff, at);
}

function inOrder(offers: Offer[], circuits: Map<string, CircuitView>, preferSellerId?: string): Offer[] {
  const isPreferred = ({ sellerId }: Offer) => sellerId === preferSellerId;
  // In whole per cent and tenths of a second: smaller differences are chance.
  const rateOf = ({ sellerId }: Offer) => Math.round((circuits.get(sellerId)?.successRate ?? 1) * 100);
  const speedOf = ({ sellerId }: Offer) => Math.round((circuits.get(sellerId)?.meanMs ?? 0) / 100);
  return [...offers].sort(
    (a, b) =>
      Number(isPreferred(b)) - Number(isPreferred(a)) ||
      a.price - b.price ||
      rateOf(b) - rateOf(a) ||
      speedOf(a) - speedOf(b),
  );
}

async function isOpenFor(
  sellerId: string,
  circuits: Map<string, CircuitView>,
  purpose: 'accept' | 'send',
): Promise<boolean> {
  const state = circuits.get(sellerId)?.state ?? 'closed';
  return state === 'closed' || (state === 'half-open' && (await takeProbe(sellerId, purpose)));
}
