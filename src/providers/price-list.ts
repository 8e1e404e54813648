import {
  cachePieces,
  estimateListedBytes,
  listedFields,
  type ListedProduct,
  getSpellings,
} from '../products/read-products.js';
import { loadMarkups, type MarkupBuyer, type GetMarkup } from '../products/markups.js';
import type { Offer } from '../products/offer.model.js';
import { ProductModel, type ProductStatus } from '../products/product.model.js';
import { createCache } from '../redis/cache.js';
import {
  getBestPrice,
  readPriceConditions,
  type PriceConditions,
  type RoutableOffer,
} from './choose-route.js';
import { findActiveOffers } from './routing-cache.js';

export interface PricedProduct {
  product: ListedProduct;
  /**
   * Price in rupiah including the markup. It is the price of the cheapest active offer that can
   * serve now. During maintenance, it is the price of the cheapest offer.
   */
  price: number;
  status: ProductStatus;
}

export interface PriceListFilter {
  buyer: MarkupBuyer;
  /** `prabayar`, `pascabayar`, or a subcategory. */
  category?: string | undefined;
  subcategory?: string | undefined;
  operator?: string | undefined;
  status?: string | undefined;
}

/** Product fields with their required values, compared case-insensitively. */
type Condition = Partial<Record<'category' | 'subcategory' | 'operator', string>>;

interface CatalogueProduct {
  product: ListedProduct;
  /** Active offers, cheapest first. */
  offers: RoutableOffer[];
}

/** Maximum number of products listed and held in memory. A real catalogue has a few thousand. */
const productsMax = 20_000;

/**
 * The cached catalogue, keyed by the database condition. The empty condition selects the whole
 * catalogue.
 */
const catalogue = cachePieces({
  read: readCatalogue,
  codeOf: ({ product }) => product._id,
  bytesOf: ({ product, offers }) => estimateListedBytes(product) + 200 * offers.length,
});

/**
 * The approximate number of products. It decides only how the list is read, not what the list
 * contains.
 */
const catalogueSize = createCache({
  from: [ProductModel],
  load: (_key: 'all') => ProductModel.estimatedDocumentCount(),
  isAbout: () => false,
});

/**
 * Returns active products and products in maintenance with their best price now, ordered by code.
 * After the promise resolves, iteration neither fails nor waits. Prices are computed during
 * iteration for the moment of the call. Iteration can be repeated.
 */
export async function getPriceList(filter: PriceListFilter): Promise<Iterable<PricedProduct>> {
  const condition = buildCondition(filter);
  // If the whole catalogue fits in memory, one copy serves every filter.
  const isHeldWhole = (await catalogueSize('all')) <= productsMax;
  const [products, now, markupOf] = await Promise.all([
    catalogue(isHeldWhole ? {} : condition),
    readPriceConditions(),
    loadMarkups(filter.buyer),
  ]);
  const asked = { condition, status: filter.status, now, markupOf };
  return { [Symbol.iterator]: () => priceProducts(products, asked) };
}

function* priceProducts(
  products: CatalogueProduct[],
  asked: { condition: Condition; status: string | undefined; now: PriceConditions; markupOf: GetMarkup },
): Generator<PricedProduct> {
  const wanted = Object.entries(asked.condition).map(
    ([field, value]) => [field as keyof Condition, value.toLowerCase()] as const,
  );
  let found = 0;
  for (const { product, offers } of products) {
    if (wanted.every(([field, value]) => product[field]?.toLowerCase() === value)) {
      found += 1;
      const best = found <= productsMax ? getBestPrice({ product, offers }, asked.now) : null;
      if (best && (asked.status === undefined || asked.status === best.status)) {
        const price = best.price + asked.markupOf(product, best.price);
        yield { product, price, status: best.status };
      }
    }
  }
}

async function readCatalogue(condition: Condition, after: string, size: number): Promise<CatalogueProduct[]> {
  const spelled: Record<string, { $in: string[] }> = {};
  for (const [field, value] of Object.entries(condition)) {
    spelled[field] = { $in: getSpellings(value) };
  }
  const wanted = { ...spelled, _id: { $gt: after }, status: { $ne: 'inactive' as const } };
  const products = await ProductModel.find(wanted, listedFields)
    .sort({ _id: 1 })
    .limit(size)
    .lean<ListedProduct[]>();
  const offersOf = await findActiveOffers(products.map(({ _id }) => _id));
  return products.map((product) => {
    const offers = (offersOf.get(product._id) ?? []).map(toRoutableOffer);
    return { product, offers: offers.sort((a, b) => a.price - b.price) };
  });
}

function toRoutableOffer({
  sellerId,
  sku = null,
  price,
  cost = null,
  costAllowed = null,
  providerAvailable = null,
  cutOff = null,
}: Offer): RoutableOffer {
  return { sellerId, sku, price, cost, costAllowed, providerAvailable, cutOff };
}

function buildCondition({ category, subcategory, operator }: PriceListFilter): Condition {
  return {
    ...(category !== undefined && buildCategoryCondition(category)),
    ...(subcategory !== undefined && { subcategory }),
    ...(operator !== undefined && { operator }),
  };
}

function buildCategoryCondition(category: string): Condition {
  const lower = category.toLowerCase();
  return lower === 'prabayar' || lower === 'pascabayar' ? { category: lower } : { subcategory: category };
}
