/**
 * What routing needs to know, from each process's own memory for at most `limits.cacheTtlMs`: sellers with their
 * provider's state, products with their active offers. However many orders come, the database sees two indexed
 * queries a second for sellers, and two for all the products that were asked about together.
 */
import { limits } from '../../config/limits.js';
import { AccountModel, type Account } from '../accounts/account.model.js';
import { OfferModel, type Offer } from '../products/offer.model.js';
import { ProductModel, type Product } from '../products/product.model.js';
import { nowMs } from '../shared/clock.js';
import { ProviderStateModel, type ProviderState } from './provider-state.model.js';

export type RoutingSeller = Pick<Account, '_id' | 'status' | 'provider' | 'commissionRate'> & {
  state: ProviderState | null;
};
export interface RoutingProduct {
  product: Product;
  /** Active ones, cheapest first. */
  offers: Offer[];
}

const productsKept = 20_000;

/** A product that does not exist is missing from the map. */
export async function routingProducts(codes: string[]): Promise<Map<string, RoutingProduct>> {
  const missing = [...new Set(codes.filter((code) => !isFresh(products.get(code))))];
  if (missing.length > 0) {
    keepLoading(missing);
  }
  // Taken before anything is awaited: what is forgotten meanwhile is still an answer to this question.
  const asked = codes.map((code) => ({ code, value: products.get(code)?.value }));
  const found = new Map<string, RoutingProduct>();
  for (const { code, value } of asked) {
    const product = await value;
    if (product) {
      found.set(code, product);
    }
  }
  return found;
}

export async function routingSellers(): Promise<Map<string, RoutingSeller>> {
  if (sellers && isFresh(sellers)) {
    return sellers.value;
  }
  const kept = { loadedAt: nowMs(), value: loadSellers() };
  sellers = kept;
  kept.value.catch(() => (sellers = undefined));
  return kept.value;
}

/** The next question goes to the database: for whoever has just changed something. */
export function forgetRoutes(): void {
  products.clear();
  sellers = undefined;
}

interface Kept<T> {
  loadedAt: number;
  value: Promise<T>;
}
const products = new Map<string, Kept<RoutingProduct | null>>();
let sellers: Kept<Map<string, RoutingSeller>> | undefined;

function isFresh(kept: Kept<unknown> | undefined): boolean {
  return kept !== undefined && Math.abs(nowMs() - kept.loadedAt) < limits.cacheTtlMs;
}

function keepLoading(codes: string[]): void {
  if (products.size + codes.length > productsKept) {
    products.clear();
  }
  const loadedAt = nowMs();
  const loading = loadProducts(codes);
  for (const code of codes) {
    products.set(code, { loadedAt, value: loading.then((loaded) => loaded.get(code) ?? null) });
    products.get(code)?.value.catch(() => products.delete(code));
  }
}

async function loadProducts(codes: string[]): Promise<Map<string, RoutingProduct>> {
  const [found, offers] = await Promise.all([
    ProductModel.find({ _id: { $in: codes } }).lean<Product[]>(),
    OfferModel.find({ productCode: { $in: codes }, status: 'active' }).lean<Offer[]>(),
  ]);
  const board = new Map(found.map((product) => [product._id, { product, offers: [] as Offer[] }]));
  for (const offer of offers) {
    board.get(offer.productCode)?.offers.push(offer);
  }
  board.forEach((each) => each.offers.sort((a, b) => a.price - b.price));
  return board;
}

async function loadSellers(): Promise<Map<string, RoutingSeller>> {
  const [accounts, states] = await Promise.all([
    AccountModel.find({ role: 'seller' }, { status: 1, provider: 1, commissionRate: 1 }).lean<
      RoutingSeller[]
    >(),
    ProviderStateModel.find().lean<ProviderState[]>(),
  ]);
  const stateOf = new Map(states.map((state) => [state._id, state]));
  return new Map(accounts.map((each) => [each._id, { ...each, state: stateOf.get(each._id) ?? null }]));
}
