import type { ProviderSettings } from '../accounts/account.model.js';
import { getCommissionRate } from '../accounts/effective-settings.js';
import { getQuickCollection } from '../database/mongo.js';
import { isBelowCost, OfferModel, type Offer } from '../products/offer.model.js';
import type { Product, ProductStatus } from '../products/product.model.js';
import { now as currentTime } from '../shared/clock.js';
import { readBacklogs, getMaxWaitMs } from './backlog.js';
import { readCircuits, takeOnlyProbe, takeProbe, type CircuitView } from './circuit.js';
import { isInCutOff } from '../products/cut-off.js';
import {
  getRoutingProduct,
  getRoutingSellers,
  type RoutingProduct,
  type RoutingSeller,
} from './routing-cache.js';

export interface RouteQuery {
  productCode: string;
  /**
   * Maximum price in rupiah. Absent when a purchase is being accepted, because no price is agreed
   * yet.
   */
  priceMax?: number;
  /**
   * The offer at which the order was accepted, or the seller that quoted its bill. It is tried
   * first, at this price, even if the offer has changed.
   */
  accepted?: AcceptedOffer | null;
  /** Sellers that have already refused this order. */
  excludeSellerIds?: string[];
  now?: Date;
  /**
   * The seller in whose provider queue the order is next. For any other provider, the order must
   * queue first. Null if the order is next in no queue. If absent, queues are ignored.
   */
  turnAt?: string | null;
}

export interface AcceptedOffer {
  sellerId: string;
  price: number;
  /** The code at the provider with which the bill was quoted. If absent, that of the offer. */
  sku?: string | undefined;
}

export interface Route {
  sellerId: string;
  /** The product's code at this seller's provider. */
  sku: string;
  /** The seller's price, in rupiah. */
  price: number;
  /** The highest cost in rupiah at which an order may be sent, if it is above the price. */
  costMax?: number;
  commissionRate: number;
  provider: Pick<ProviderSettings, 'kind' | 'baseUrl' | 'username'>;
}

/** The fields of an offer that routing needs. */
export type RoutableOffer = Pick<
  Offer,
  'sellerId' | 'sku' | 'price' | 'cost' | 'costAllowed' | 'providerAvailable' | 'cutOff'
>;

/**
 * Reasons why no seller was chosen.
 *
 * - no-offer: no seller offers the product within the price.
 * - cut-off: the product is in its daily window without sales.
 * - maintenance: the product is in maintenance, or no seller can serve it.
 * - circuits-open: the circuits of all sellers that could serve it are open.
 * - backlog: the wait would exceed the limit. This is checked only on acceptance.
 */
export type NoRouteReason = 'no-offer' | 'cut-off' | 'maintenance' | 'circuits-open' | 'backlog';

export interface NoRoute {
  reason: NoRouteReason;
  /** For a backlog or a pause of the provider, the milliseconds after which a retry makes sense. */
  retryAfterMs?: number;
}

/**
 * Returns the cheapest active offer whose seller can serve the order now. If prices are equal, the
 * better success rate wins, then the faster provider (docs/explanation/routing.md#routing).
 */
export async function chooseRoute(query: RouteQuery): Promise<Route | NoRoute> {
  const { productCode, accepted = null, now = currentTime() } = query;
  const found = await getRoutingProduct(productCode);
  const closed = findClosedReason(found, now);
  if (!found || closed) {
    return { reason: closed ?? 'no-offer' };
  }
  const wanted = selectOffers(await addAcceptedOffer(found.offers, query), query);
  if (wanted.length === 0) {
    return { reason: 'no-offer' };
  }
  const sellers = await getRoutingSellers();
  const able = wanted.filter((offer) =>
    canServe(sellers.get(offer.sellerId), offer, { product: found.product, at: now }),
  );
  if (able.length === 0) {
    return { reason: 'maintenance' };
  }
  const circuits = await readCircuits(able.map(({ sellerId }) => sellerId));
  const late = isAcceptance(query)
    ? await findOverloadedSellers(able, sellers, found.product.maxWaitS)
    : new Map<string, number>();
  const inTime = sortOffers(able, circuits, accepted?.sellerId).filter(({ sellerId }) => !late.has(sellerId));
  const offer = await findFirstOpen(inTime, circuits, query.turnAt);
  const seller = offer && sellers.get(offer.sellerId);
  if (offer && seller?.provider) {
    return {
      sellerId: seller._id,
      sku: offer.sku ?? productCode,
      price: offer.price,
      ...((offer.costAllowed ?? 0) > offer.price && { costMax: offer.costAllowed ?? offer.price }),
      commissionRate: getCommissionRate(seller),
      provider: getRouteProvider(seller.provider),
    };
  }
  if (late.size > 0) {
    return { reason: 'backlog', retryAfterMs: Math.min(...late.values()) };
  }
  const pauseMs = Math.min(...able.map(({ sellerId }) => circuits.get(sellerId)?.pauseMs ?? 0));
  return { reason: 'circuits-open', ...(pauseMs > 0 && { retryAfterMs: pauseMs }) };
}

/** True if a purchase is being accepted. No price is agreed then, and nothing has been bought. */
function isAcceptance({ priceMax }: RouteQuery): boolean {
  return priceMax === undefined;
}

/** Finds sellers whose backlog exceeds an order's maximum wait, with the excess in milliseconds. */
async function findOverloadedSellers(
  offers: RoutableOffer[],
  all: Map<string, RoutingSeller>,
  productMaxWaitS: number | null | undefined,
): Promise<Map<string, number>> {
  const sellers = offers.flatMap(({ sellerId }) => all.get(sellerId) ?? []);
  const backlogs = await readBacklogs(sellers);
  const overdue = sellers.map(({ _id, provider }) => {
    const maxMs = getMaxWaitMs({ product: productMaxWaitS, provider: provider?.maxWaitS });
    return [_id, (backlogs.get(_id)?.expectedMs ?? 0) - maxMs] as const;
  });
  return new Map(overdue.filter(([, ms]) => ms > 0));
}

/**
 * Adds the accepted offer if it is inactive by now. Without it, its code at the provider, its cost
 * and its availability would be unknown.
 */
async function addAcceptedOffer(offers: Offer[], { productCode, accepted }: RouteQuery): Promise<Offer[]> {
  if (!accepted || offers.some(({ sellerId }) => sellerId === accepted.sellerId)) {
    return offers;
  }
  const stored = await getQuickCollection(OfferModel).findOne({
    productCode,
    sellerId: accepted.sellerId,
  });
  return stored ? [...offers, stored] : offers;
}

function selectOffers(
  offers: Offer[],
  { accepted = null, priceMax = Infinity, excludeSellerIds = [] }: RouteQuery,
): RoutableOffer[] {
  const others = offers.filter((each) => each.sellerId !== accepted?.sellerId);
  const own = offers.find((each) => each.sellerId === accepted?.sellerId);
  const acceptedOffer = accepted && {
    ...own,
    ...accepted,
    sku: accepted.sku ?? own?.sku ?? null,
    // A later permission to sell below cost was given for a later price.
    costAllowed: own?.price === accepted.price ? (own.costAllowed ?? null) : null,
  };
  return [...(acceptedOffer ? [acceptedOffer] : []), ...others].filter(
    ({ price, sellerId }) => price <= priceMax && !excludeSellerIds.includes(sellerId),
  );
}

/**
 * The conditions that decide which offer gives the best price, read at one moment: time, sellers
 * and circuits.
 */
export interface PriceConditions {
  sellers: Map<string, RoutingSeller>;
  circuits: Map<string, CircuitView>;
  at: Date;
}

export async function readPriceConditions(at: Date = currentTime()): Promise<PriceConditions> {
  const sellers = await getRoutingSellers();
  return { sellers, circuits: await readCircuits([...sellers.keys()]), at };
}

/**
 * Returns the price list entry of a product in rupiah: the cheapest offer that can serve now. If no
 * offer can, the status is `maintenance` with the cheapest offer. Null if there is no offer.
 * @param offers Active offers, cheapest first.
 */
export function getBestPrice(
  { product, offers }: { product: RoutingProduct['product']; offers: RoutableOffer[] },
  { sellers, circuits, at }: PriceConditions,
): { price: number; status: ProductStatus } | null {
  const [cheapest] = offers;
  if (!cheapest) {
    return null;
  }
  const open = findClosedReason({ product }, at)
    ? undefined
    : offers.find(
        (offer) =>
          canServe(sellers.get(offer.sellerId), offer, { product, at }) &&
          circuits.get(offer.sellerId)?.state !== 'open',
      );
  const status = product.status === 'inactive' ? 'inactive' : open ? 'active' : 'maintenance';
  return { price: (open ?? cheapest).price, status };
}

function getRouteProvider({ kind, baseUrl, username }: ProviderSettings): Route['provider'] {
  return { kind, baseUrl, username };
}

/** Returns why the product is closed for every seller, or null if it is open. */
export function findClosedReason(
  found: Pick<RoutingProduct, 'product'> | null,
  at: Date,
): NoRouteReason | null {
  if (!found || found.product.status === 'inactive') {
    return 'no-offer';
  }
  if (found.product.status === 'maintenance') {
    return 'maintenance';
  }
  return isInCutOff(found.product.cutOff, at) ? 'cut-off' : null;
}

function canServe(...facts: Parameters<typeof findObstacle>): boolean {
  return findObstacle(...facts) === null;
}

export const obstacles = [
  'no-provider',
  'suspended',
  'paused',
  'float',
  'unavailable',
  'below-cost',
  'cut-off',
] as const;

/** Returns why an offer cannot be used now, or null. It does not check the circuit. */
export function findObstacle(
  seller: RoutingSeller | undefined,
  offer: RoutableOffer,
  { product, at }: { product: Pick<Product, 'category'>; at: Date },
): (typeof obstacles)[number] | null {
  if (!seller?.provider) {
    return 'no-provider';
  }
  if (seller.status !== 'active') {
    return 'suspended';
  }
  if (seller.state?.paused) {
    return 'paused';
  }
  const float = seller.state?.floatAmount ?? null;
  if (float !== null && float < (offer.cost ?? offer.price)) {
    return 'float';
  }
  if (offer.providerAvailable === false) {
    return 'unavailable';
  }
  if (isBelowCost(offer, product)) {
    return 'below-cost';
  }
  return isInCutOff(offer.cutOff, at) ? 'cut-off' : null;
}

/** Criteria that rank offers, most important first. */
export const rankCriteria = ['price', 'success', 'speed'] as const;
export type RankCriterion = (typeof rankCriteria)[number];

type Compare = (a: RoutableOffer, b: RoutableOffer) => number;

function buildComparers(circuits: Map<string, CircuitView>): Record<RankCriterion, Compare> {
  // Rates are rounded to whole per cent and durations to tenths of a second. Smaller differences
  // are noise.
  const rateOf = ({ sellerId }: RoutableOffer) =>
    Math.round((circuits.get(sellerId)?.successRate ?? 1) * 100);
  const speedOf = ({ sellerId }: RoutableOffer) => Math.round((circuits.get(sellerId)?.meanMs ?? 0) / 100);
  return {
    price: (a, b) => a.price - b.price,
    success: (a, b) => rateOf(b) - rateOf(a),
    speed: (a, b) => speedOf(a) - speedOf(b),
  };
}

/** Returns the criterion that ranks `later` behind `before`, or null if they are equal. */
export function findRankCriterion(
  before: RoutableOffer,
  later: RoutableOffer,
  circuits: Map<string, CircuitView>,
): RankCriterion | null {
  const compare = buildComparers(circuits);
  return rankCriteria.find((each) => compare[each](before, later) !== 0) ?? null;
}

/** Sorts offers in the order in which routing tries them. */
export function sortOffers(
  offers: RoutableOffer[],
  circuits: Map<string, CircuitView>,
  firstSellerId?: string,
): RoutableOffer[] {
  const isFirst = ({ sellerId }: RoutableOffer) => sellerId === firstSellerId;
  const { price, success, speed } = buildComparers(circuits);
  return [...offers].sort(
    (a, b) => Number(isFirst(b)) - Number(isFirst(a)) || price(a, b) || success(a, b) || speed(a, b),
  );
}

/**
 * Returns the first offer whose circuit admits the order. While a half-open provider has a probe in
 * flight, other sellers are tried first. An order accepted for this provider would wait for the
 * probe's outcome.
 */
async function findFirstOpen(
  offers: RoutableOffer[],
  circuits: Map<string, CircuitView>,
  turnAt: RouteQuery['turnAt'],
): Promise<RoutableOffer | null> {
  const stateOf = ({ sellerId }: RoutableOffer) => circuits.get(sellerId)?.state ?? 'closed';
  const isTurn = ({ sellerId }: RoutableOffer) => turnAt === undefined || sellerId === turnAt;
  for (const offer of offers) {
    const take = () => (isTurn(offer) ? takeProbe(offer.sellerId, 'send') : takeOnlyProbe(offer.sellerId));
    if (stateOf(offer) === 'closed' || (stateOf(offer) === 'half-open' && (await take()))) {
      return offer;
    }
  }
  for (const offer of offers.filter((each) => stateOf(each) === 'half-open' && !isTurn(each))) {
    if (await takeProbe(offer.sellerId, 'accept')) {
      return offer;
    }
  }
  return null;
}
