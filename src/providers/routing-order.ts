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
  /** The seller's price in rupiah. */
  price: number;
  cost: number | null;
  circuit: CircuitView['state'];
  successRate: number;
  meanMs: number;
  /** The reason why the offer is blocked. Null if it is not. */
  obstacle: (typeof obstacles)[number] | 'circuit-open' | null;
  /**
   * The criterion that ranks the offer behind the previous one. `first` is the first offer, and
   * `alike` means that no criterion differs. Null if the offer is not tried.
   */
  placed: RankCriterion | 'first' | 'alike' | null;
}

export interface RoutingOrder {
  product: string;
  /** Why the product is closed for every seller. Null if it is open. */
  closed: NoRouteReason | null;
  /** The offers in routing order. Blocked offers come last. */
  offers: RoutedOffer[];
}

/**
 * Returns for operators the order in which routing tries the sellers of a product now, with the
 * obstacle of each seller.
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
    const obstacle =
      findObstacle(seller, offer, { product: found.product, at }) ??
      (state === 'open' ? 'circuit-open' : null);
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
