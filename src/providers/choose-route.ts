import type { ProviderSettings } from '../accounts/account.model.js';
import { getCommissionRate } from '../accounts/effective-settings.js';
import type { Offer } from '../products/offer.model.js';
import type { ProductStatus } from '../products/product.model.js';
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
  /** Rupiah. Absent at acceptance, when the price is what is being asked for. */
  priceMax?: number;
  /**
   * The offer that the order was accepted at, or the seller that quoted its bill: it is asked first, at this price,
   * whatever its offer says by now.
   */
  accepted?: { sellerId: string; price: number } | null;
  /** Sellers that have already refused this order. */
  excludeSellerIds?: string[];
  now?: Date;
  /**
   * The seller at whose provider it is the order's turn to be sent. At any other it has to get in line first, and null
   * is none. Absent: there are no lines.
   */
  turnAt?: string | null;
}

export interface Route {
  sellerId: string;
  /** Rupiah that the seller asks. */
  price: number;
  commissionRate: number;
  provider: Pick<ProviderSettings, 'kind' | 'baseUrl' | 'username'>;
}

/** What routing needs of an offer. */
export type RoutableOffer = Pick<Offer, 'sellerId' | 'price' | 'cost' | 'providerAvailable' | 'cutOff'>;

/**
 * no-offer: nobody sells it (any more, or within the price). cut-off: in its daily window. maintenance: switched
 * off for now, or no seller is able to serve. circuits-open: the sellers that would serve it do not answer. backlog:
 * their orders wait longer than they may; only asked about where no order exists yet.
 */
export type NoRouteReason = 'no-offer' | 'cut-off' | 'maintenance' | 'circuits-open' | 'backlog';

export interface NoRoute {
  reason: NoRouteReason;
  /** backlog, and a provider's pause: when it makes sense to come again. */
  retryAfterMs?: number;
}

/**
 * The cheapest active offer whose seller can serve now; ties go to the better success rate, then to the faster
 * (docs/explanation/routing.md#routing).
 */
export async function chooseRoute(query: RouteQuery): Promise<Route | NoRoute> {
  const { productCode, accepted = null, now = currentTime() } = query;
  const found = await getRoutingProduct(productCode);
  const closed = findClosedReason(found, now);
  if (!found || closed) {
    return { reason: closed ?? 'no-offer' };
  }
  const wanted = selectOffers(found.offers, query);
  if (wanted.length === 0) {
    return { reason: 'no-offer' };
  }
  const sellers = await getRoutingSellers();
  const able = wanted.filter((offer) => canServe(sellers.get(offer.sellerId), offer, now));
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
      price: offer.price,
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

/** No price is agreed yet, so nothing was bought. */
function isAcceptance({ priceMax }: RouteQuery): boolean {
  return priceMax === undefined;
}

/** Sellers whose provider has more to do than an order may wait for, with the milliseconds by which it is too much. */
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

function selectOffers(
  offers: Offer[],
  { accepted = null, priceMax = Infinity, excludeSellerIds = [] }: RouteQuery,
): RoutableOffer[] {
  const others = offers.filter((each) => each.sellerId !== accepted?.sellerId);
  const kept = accepted && {
    ...offers.find((each) => each.sellerId === accepted.sellerId),
    ...accepted,
  };
  return [...(kept ? [kept] : []), ...others].filter(
    ({ price, sellerId }) => price <= priceMax && !excludeSellerIds.includes(sellerId),
  );
}

/** What the best price hangs on beside the product and its offers, as of one moment. */
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
 * What the price lists show: the cheapest offer that can serve now, or `maintenance` with the cheapest offer when none
 * can; null if nobody offers it. In rupiah.
 * @param offers The active ones, the cheapest first.
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
          canServe(sellers.get(offer.sellerId), offer, at) && circuits.get(offer.sellerId)?.state !== 'open',
      );
  const status = product.status === 'inactive' ? 'inactive' : open ? 'active' : 'maintenance';
  return { price: (open ?? cheapest).price, status };
}

function getRouteProvider({ kind, baseUrl, username }: ProviderSettings): Route['provider'] {
  return { kind, baseUrl, username };
}

/** What closes a product whoever would serve it, or null. */
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

function canServe(seller: RoutingSeller | undefined, offer: RoutableOffer, at: Date): boolean {
  return findObstacle(seller, offer, at) === null;
}

export const obstacles = ['no-provider', 'suspended', 'paused', 'float', 'unavailable', 'cut-off'] as const;

/** What keeps an offer from being asked for now, whatever its circuit; null: nothing. */
export function findObstacle(
  seller: RoutingSeller | undefined,
  offer: RoutableOffer,
  at: Date,
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
  return isInCutOff(offer.cutOff, at) ? 'cut-off' : null;
}

/** What decides between two sellers, in this order. */
export const rankCriteria = ['price', 'success', 'speed'] as const;
export type RankCriterion = (typeof rankCriteria)[number];

type Compare = (a: RoutableOffer, b: RoutableOffer) => number;

function buildComparers(circuits: Map<string, CircuitView>): Record<RankCriterion, Compare> {
  // In whole per cent and tenths of a second: smaller differences are chance.
  const rateOf = ({ sellerId }: RoutableOffer) =>
    Math.round((circuits.get(sellerId)?.successRate ?? 1) * 100);
  const speedOf = ({ sellerId }: RoutableOffer) => Math.round((circuits.get(sellerId)?.meanMs ?? 0) / 100);
  return {
    price: (a, b) => a.price - b.price,
    success: (a, b) => rateOf(b) - rateOf(a),
    speed: (a, b) => speedOf(a) - speedOf(b),
  };
}

/** What puts `later` behind `before`; null: nothing does, they are alike. */
export function findRankCriterion(
  before: RoutableOffer,
  later: RoutableOffer,
  circuits: Map<string, CircuitView>,
): RankCriterion | null {
  const compare = buildComparers(circuits);
  return rankCriteria.find((each) => compare[each](before, later) !== 0) ?? null;
}

/** The order in which sellers are asked. */
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
 * The first whose circuit lets the order through. While a probe is under way at a half-open one, others are asked first: what is
 * accepted beside the probe waits for its answer.
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
