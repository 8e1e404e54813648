/** In which order the sellers of a product would be asked now, and what keeps each from it: for the operator. */
import { now } from '../shared/clock.js';
import { NotFoundError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import {
  findClosedReason,
  sortOffers,
  findObstacle,
  findRankCriterion,
  type NoRouteReason,
  type obstacles,
  type RankCriterion,
  type RoutableOffer,
} from './choose-route.js';
import { readCircuits, type CircuitView } from './circuit.js';
import { getRoutingProduct, getRoutingSellers } from './routing-cache.js';

export interface RoutedOffer {
  seller: string;
  /** Rupiah that the seller asks, and what it costs us where that is known. */
  price: number;
  cost: number | null;
  circuit: CircuitView['state'];
  successRate: number;
  meanMs: number;
  /** Null: it is asked when its turn comes. */
  obstacle: (typeof obstacles)[number] | 'circuit-open' | null;
  /** What puts it behind the one before it. `first`: it is asked first; `alike`: nothing tells them apart. Null: it is not asked. */
  placed: RankCriterion | 'first' | 'alike' | null;
}

export interface RoutingOrder {
  product: string;
  /** What closes it, whoever would serve it; null: nothing. */
  closed: NoRouteReason | null;
  /** Those that cannot be asked come after those that can. */
  offers: RoutedOffer[];
}

/** @throws NotFoundError for a product that does not exist. */
export async function readRoutingOrder(productCode: string): Promise<RoutingOrder> {
  const [found, sellers] = await Promise.all([getRoutingProduct(productCode), getRoutingSellers()]);
  if (!found) {
    throw new NotFoundError(asWritten(`There is no product ${productCode}`));
  }
  const at = now();
  const circuits = await readCircuits(found.offers.map(({ sellerId }) => sellerId));
  let before: RoutableOffer | null = null;
  const offers: RoutedOffer[] = [];
  for (const offer of sortOffers(found.offers, circuits)) {
    const seller = sellers.get(offer.sellerId);
    const { state = 'closed', successRate = 1, meanMs = 0 } = circuits.get(offer.sellerId) ?? {};
    const obstacle = findObstacle(seller, offer, at) ?? (state === 'open' ? 'circuit-open' : null);
    offers.push({
      seller: seller?.username ?? offer.sellerId,
      price: offer.price,
      cost: offer.cost ?? null,
      circuit: state,
      successRate,
      meanMs,
      obstacle,
      placed: obstacle ? null : before ? (findRankCriterion(before, offer, circuits) ?? 'alike') : 'first',
    });
    before = obstacle ? before : offer;
  }
  return {
    product: productCode,
    closed: findClosedReason(found, at),
    offers: [...offers.filter((each) => !each.obstacle), ...offers.filter((each) => each.obstacle)],
  };
}
