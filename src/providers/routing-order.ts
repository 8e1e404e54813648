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
  /** Rupiah: the seller's price, and our cost if known. */
  price: number;
  cost: number | null;
  circuit: CircuitView['state'];
  successRate: number;
  meanMs: number;
  /** Null: nothing blocks the offer. */
  obstacle: (typeof obstacles)[number] | 'circuit-open' | null;
  /**
   * The criterion that ranks it behind the previous one. `first`: tried first. `alike`: no
   * criterion differs. Null: not tried.
   */
  placed: RankCriterion | 'first' | 'alike' | null;
}

export interface RoutingOrder {
  product: string;
  /** Why the product is closed for every seller; null: it is open. */
  closed: NoRouteReason | null;
  /** Blocked offers come last. */
  offers: RoutedOffer[];
}

/**
 * Returns the order in which routing tries the sellers of a product now, and each seller's
 * obstacle, for the operator.
 * @throws NotFoundError if the product does not exist.
 */
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
