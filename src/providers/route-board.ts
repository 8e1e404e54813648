/**
 * What routing needs to know, from each process's own memory for at most `limits.cacheTtlMs`: however many orders
 * come, the database sees one indexed query a second for the sellers, and one for each product that is asked about.
 */
import { AccountModel, type Account } from '../accounts/account.model.js';
import { OfferModel, type Offer } from '../products/offer.model.js';
import { ProductModel, type Product } from '../products/product.model.js';
import { ttlCache } from '../shared/ttl-cache.js';
import { ProviderStateModel, type ProviderState } from './provider-state.model.js';

export type RoutingSeller = Pick<Account, '_id' | 'status' | 'provider' | 'commissionRate'> & {
  state: ProviderState | null;
};
export interface RoutingProduct {
  product: Pick<Product, 'status' | 'cutOff'>;
  /** Active ones. */
  offers: Offer[];
}

const byCode = ttlCache(loadProduct);
const allSellers = ttlCache(loadSellers);

/** Null: there is no such product. */
export function routingProduct(code: string): Promise<RoutingProduct | null> {
  return byCode.get(code);
}

export function routingSellers(): Promise<Map<string, RoutingSeller>> {
  return allSellers.get('all');
}

/** The active offers of these products, by code. */
export async function activeOffers(productCodes: string[]): Promise<Map<string, Offer[]>> {
  const offers = await OfferModel.find({ productCode: { $in: productCodes }, status: 'active' }).lean<
    Offer[]
  >();
  const board = new Map<string, Offer[]>();
  for (const offer of offers) {
    board.set(offer.productCode, [...(board.get(offer.productCode) ?? []), offer]);
  }
  return board;
}

/** The next question goes to the database: for whoever has just changed something. */
export function forgetRoutes(): void {
  byCode.clear();
  allSellers.clear();
}

async function loadProduct(code: string): Promise<RoutingProduct | null> {
  const [product, offers] = await Promise.all([
    ProductModel.findById(code, { status: 1, cutOff: 1 }).lean<RoutingProduct['product']>(),
    activeOffers([code]),
  ]);
  return product && { product, offers: offers.get(code) ?? [] };
}

async function loadSellers(_key: 'all'): Promise<Map<string, RoutingSeller>> {
  const fields = { status: 1, provider: 1, commissionRate: 1 };
  const [accounts, states] = await Promise.all([
    AccountModel.find({ role: 'seller' }, fields).lean<RoutingSeller[]>(),
    ProviderStateModel.find().lean<ProviderState[]>(),
  ]);
  const stateOf = new Map(states.map((state) => [state._id, state]));
  return new Map(accounts.map((each) => [each._id, { ...each, state: stateOf.get(each._id) ?? null }]));
}
