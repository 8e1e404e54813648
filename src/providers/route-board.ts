/**
 * What routing needs to know, from each process's own memory: however many orders come, the database sees one query
 * a second, for floats.
 */
import { quick } from '../database/mongo.js';
import { AccountModel, type Account } from '../accounts/account.model.js';
import { OfferModel, type Offer } from '../products/offer.model.js';
import { ProductModel, type Product } from '../products/product.model.js';
import { limits } from '../../config/limits.js';
import { cached } from '../redis/cached.js';
import { ProviderStateModel, type ProviderState } from './provider-state.model.js';

type SellerFacts = Pick<Account, '_id' | 'username' | 'status' | 'provider' | 'commissionRate'>;
export type RoutingSeller = SellerFacts & { state: ProviderState | null };
export interface RoutingProduct {
  product: Pick<Product, '_id' | 'status' | 'cutOff' | 'maxWaitS'>;
  /** Active ones. */
  offers: Offer[];
}

/** Null: there is no such product. */
export const routingProduct = cached({
  from: [ProductModel, OfferModel],
  load: loadProduct,
  isAbout: ({ product }, code) => product._id === code,
});

const sellerFacts = cached({
  from: [AccountModel],
  load: loadSellers,
  isAbout: (sellers, accountId) => sellers.some(({ _id }) => _id === accountId),
});
/** A pause drops them; a float is not announced, and is a second old at most. */
const states = cached({ from: [ProviderStateModel], load: loadStates, keepMs: limits.cacheDeafMs });

let board: { facts: SellerFacts[]; known: ProviderState[]; sellers: Map<string, RoutingSeller> } | null =
  null;

export async function routingSellers(): Promise<Map<string, RoutingSeller>> {
  const [facts, known] = await Promise.all([sellerFacts('all'), states('all')]);
  if (board?.facts !== facts || board.known !== known) {
    const stateOf = new Map(known.map((state) => [state._id, state]));
    const sellers = facts.map(
      (each) => [each._id, { ...each, state: stateOf.get(each._id) ?? null }] as const,
    );
    board = { facts, known, sellers: new Map(sellers) };
  }
  return board.sellers;
}

/** The active offers of these products, by code. */
export async function activeOffers(productCodes: string[]): Promise<Map<string, Offer[]>> {
  // Neither product nor seller of an offer changes, so each is seen once.
  const offers = await quick(OfferModel)
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
    quick(ProductModel).findOne<RoutingProduct['product']>(
      { _id: code },
      { projection: { status: 1, cutOff: 1, maxWaitS: 1 } },
    ),
    activeOffers([code]),
  ]);
  return product && { product, offers: offers.get(code) ?? [] };
}

async function loadSellers(_key: 'all'): Promise<SellerFacts[]> {
  const fields = { username: 1, status: 1, provider: 1, commissionRate: 1 };
  return quick(AccountModel).find<SellerFacts>({ role: 'seller' }, { projection: fields }).toArray();
}

async function loadStates(_key: 'all'): Promise<ProviderState[]> {
  return quick(ProviderStateModel).find().toArray();
}
