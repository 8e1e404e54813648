import { now as currentTime } from '../shared/clock.js';
import type { Offer } from '../products/offer.model.js';
import type { ProductStatus } from '../products/product.model.js';
import { circuitsOf, takeProbe, type CircuitView } from './circuit.js';
import { isInCutOff } from './cut-off.js';
import { routingProducts, routingSellers, type RoutingProduct, type RoutingSeller } from './route-board.js';

export interface RouteQuery {
  productCode: string;
  /** Rupiah; null at acceptance, when the price is what is being asked for. */
  priceMax: number | null;
  /** Sellers that have already refused this order. */
  excludeSellerIds: string[];
  now?: Date;
  /** While a circuit is half-open, one order a second may be accepted, and one may be sent. */
  purpose?: 'accept' | 'send';
}

/** Why nobody can serve it. */
export type NoRouteReason =
  /** No such product. */
  | 'unknown'
  /** Switched off, or nobody offers it. */
  | 'inactive'
  /** For now: by status, in its cut-off window, or no seller that is able to serve. */
  | 'maintenance'
  /** As `maintenance`; at least one seller is out only because its circuit is open. */
  | 'circuit-open'
  /** Only at a higher price. */
  | 'over-price'
  /** Every seller within the price has been tried. */
  | 'exhausted';

export type RouteChoice =
  { outcome: 'route'; offer: Offer; seller: RoutingSeller } | { outcome: 'none'; reason: NoRouteReason };

/**
 * The cheapest active offer whose seller can serve now; ties go to the better success rate, then to the faster
 * (decisions 10, design/providers.md).
 */
export async function chooseRoute(query: RouteQuery): Promise<RouteChoice> {
  const { productCode, now = currentTime() } = query;
  const found = (await routingProducts([productCode])).get(productCode);
  const closedReason = closedReasonOf(found, now);
  if (!found || closedReason) {
    return none(closedReason ?? 'unknown');
  }
  const affordable = found.offers.filter(({ price }) => query.priceMax === null || price <= query.priceMax);
  if (affordable.length === 0) {
    return none('over-price');
  }
  const excluded = new Set(query.excludeSellerIds);
  const untried = affordable.filter(({ sellerId }) => !excluded.has(sellerId));
  if (untried.length === 0) {
    return none('exhausted');
  }
  const sellers = await routingSellers();
  const able = untried.filter((offer) => canServe(sellers.get(offer.sellerId), offer, now));
  const circuits = await circuitsOf(able.map(({ sellerId }) => sellerId));
  for (const offer of inOrder(able, circuits)) {
    const seller = sellers.get(offer.sellerId);
    if (seller && (await isOpenFor(seller._id, circuits, query.purpose ?? 'send'))) {
      return { outcome: 'route', offer, seller };
    }
  }
  return none(able.length > 0 ? 'circuit-open' : 'maintenance');
}

export interface BestPrice {
  /** Rupiah; null when nobody offers it. */
  price: number | null;
  status: ProductStatus;
}

/**
 * What the price lists show: the cheapest offer that can serve now, or `maintenance` with the cheapest offer when
 * none can. A product that does not exist is missing from the map.
 */
export async function bestPrices(
  productCodes: string[],
  at: Date = currentTime(),
): Promise<Map<string, BestPrice>> {
  const [products, sellers] = await Promise.all([routingProducts(productCodes), routingSellers()]);
  const circuits = await circuitsOf([...sellers.keys()]);
  return new Map([...products].map(([code, found]) => [code, bestPriceOf(found, { sellers, circuits, at })]));
}

function bestPriceOf(
  found: RoutingProduct,
  by: { sellers: Map<string, RoutingSeller>; circuits: Map<string, CircuitView>; at: Date },
): BestPrice {
  const cheapest = found.offers[0]?.price ?? null;
  const reason = closedReasonOf(found, by.at);
  if (reason) {
    return { price: cheapest, status: reason === 'maintenance' ? 'maintenance' : 'inactive' };
  }
  const open = found.offers.find(
    (offer) =>
      canServe(by.sellers.get(offer.sellerId), offer, by.at) &&
      by.circuits.get(offer.sellerId)?.state !== 'open',
  );
  return open ? { price: open.price, status: 'active' } : { price: cheapest, status: 'maintenance' };
}

/** What closes a product whoever would serve it, or null. */
function closedReasonOf(
  found: RoutingProduct | undefined,
  at: Date,
): 'unknown' | 'inactive' | 'maintenance' | null {
  if (!found) {
    return 'unknown';
  }
  const { product, offers } = found;
  if (product.status === 'inactive' || (product.status === 'active' && offers.length === 0)) {
    return 'inactive';
  }
  return product.status === 'maintenance' || isInCutOff(product.cutOff, at) ? 'maintenance' : null;
}

function canServe(seller: RoutingSeller | undefined, offer: Offer, at: Date): boolean {
  if (!seller?.provider || seller.status !== 'active' || seller.state?.paused) {
    return false;
  }
  const float = seller.state?.floatAmount ?? null;
  const hasFloat = float === null || float >= (offer.cost ?? offer.price);
  return hasFloat && offer.providerAvailable !== false && !isInCutOff(offer.cutOff, at);
}

function inOrder(offers: Offer[], circuits: Map<string, CircuitView>): Offer[] {
  const rank = ({ sellerId }: Offer) => {
    const circuit = circuits.get(sellerId);
    // In whole per cent and tenths of a second: smaller differences are chance.
    return {
      rate: Math.round((circuit?.successRate ?? 1) * 100),
      speed: Math.round((circuit?.meanMs ?? 0) / 100),
    };
  };
  return [...offers].sort((a, b) => {
    const [left, right] = [rank(a), rank(b)];
    return a.price - b.price || right.rate - left.rate || left.speed - right.speed;
  });
}

async function isOpenFor(
  sellerId: string,
  circuits: Map<string, CircuitView>,
  purpose: 'accept' | 'send',
): Promise<boolean> {
  const state = circuits.get(sellerId)?.state ?? 'closed';
  return state === 'closed' || (state === 'half-open' && (await takeProbe(sellerId, purpose)));
}

function none(reason: NoRouteReason): RouteChoice {
  return { outcome: 'none', reason };
}
