/**
 * Routing data cached in the memory of each process. Whatever the load, a process queries the
 * database at most once a second, for floats.
 */
import { getQuickCollection } from '../database/mongo.js';
import { AccountModel, type Account } from '../accounts/account.model.js';
import { OfferModel, type Offer } from '../products/offer.model.js';
import { ProductModel, type Product } from '../products/product.model.js';
import { limits } from '../../config/limits.js';
import { createCache } from '../redis/cache.js';
import { ProviderStateModel, type ProviderState } from './provider-state.model.js';

type SellerFacts = Pick<Account, '_id' | 'username' | 'status' | 'provider' | 'commissionRate'>;
export type RoutingSeller = SellerFacts & { state: ProviderState | null };
export interface RoutingProduct {
  product: Pick<Product, '_id' | 'status' | 'category' | 'cutOff' | 'maxWaitS'>;
  /** Active offers. */
  offers: Offer[];
}

/** Returns a product with its active offers, or null if the product does not exist. */
export const getRoutingProduct = createCache({
  from: [ProductModel, OfferModel],
  load: loadProduct,
  isAbout: ({ product }, code) => product._id === code,
});

const sellerFacts = createCache({
  from: [AccountModel],
  load: loadSellers,
  isAbout: (sellers, accountId) => sellers.some(({ _id }) => _id === accountId),
});
/**
 * A pause invalidates the entry. A changed float does not, so a cached float can be one second old.
 */
const providerStates = createCache({
  from: [ProviderStateModel],
  load: loadStates,
  keepMs: limits.cacheDeafMs,
});

let cachedSellers: {
  facts: SellerFacts[];
  known: ProviderState[];
  sellers: Map<string, RoutingSeller>;
} | null = null;

export async function getRoutingSellers(): Promise<Map<string, RoutingSeller>> {
  const [facts, known] = await Promise.all([sellerFacts('all'), providerStates('all')]);
  if (cachedSellers?.facts !== facts || cachedSellers.known !== known) {
    const stateOf = new Map(known.map((state) => [state._id, state]));
    const sellers = facts.map(
      (each) => [each._id, { ...each, state: stateOf.get(each._id) ?? null }] as const,
    );
    cachedSellers = { facts, known, sellers: new Map(sellers) };
  }
  return cachedSellers.sellers;
}

/** Returns the active offers of these products, by product code. */
export async function findActiveOffers(productCodes: string[]): Promise<Map<string, Offer[]>> {
  // An offer's product and seller never change, so the query returns each offer once.
  const offers = await getQuickCollection(OfferModel)
    .find({ productCode: { $in: productCodes }, status: 'active' })
    .toArray();
  const board = new Map<string, Offer[]>();
  for (const offer of offers) {
    board.set(offer.productCode, [...(board.get(offer.productCode) ?? []), offer]);
  }
  return board;
}

async function loadProduct(code: string): Promise<RoutingProduct | null> {
  const [product, offers] = await Promise.all([
    getQuickCollection(ProductModel).findOne<RoutingProduct['product']>(
      { _id: code },
      { projection: { status: 1, category: 1, cutOff: 1, maxWaitS: 1 } },
    ),
    findActiveOffers([code]),
  ]);
  return product && { product, offers: offers.get(code) ?? [] };
}

async function loadSellers(_key: 'all'): Promise<SellerFacts[]> {
  const fields = { username: 1, status: 1, provider: 1, commissionRate: 1 };
  return getQuickCollection(AccountModel)
    .find<SellerFacts>({ role: 'seller' }, { projection: fields })
    .toArray();
}

async function loadStates(_key: 'all'): Promise<ProviderState[]> {
  return getQuickCollection(ProviderStateModel).find().toArray();
}
