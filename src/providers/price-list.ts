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
  /** Rupiah: the cheapest active offer that can serve now, or the cheapest there is during maintenance, with its markup. */
  price: number;
  status: ProductStatus;
}

export interface PriceListFilter {
  /** Whose prices these are. */
  buyer: MarkupBuyer;
  /** `prabayar`, `pascabayar`, or a subcategory. */
  category?: string | undefined;
  subcategory?: string | undefined;
  operator?: string | undefined;
  status?: string | undefined;
}

/** The value that a field of the product must have, in whatever case. */
type Condition = Partial<Record<'category' | 'subcategory' | 'operator', string>>;

interface CatalogueProduct {
  product: ListedProduct;
  /** Active ones, the cheapest first. */
  offers: RoutableOffer[];
}

/** The catalogue is a few thousand products; more than this is a mistake that must not fill the memory. */
const productsMax = 20_000;

/** What is looked for in the database is in the key; nothing: the whole catalogue. */
const catalogue = cachePieces({
  read: readCatalogue,
  codeOf: ({ product }) => product._id,
  bytesOf: ({ product, offers }) => estimateListedBytes(product) + 200 * offers.length,
});

/** About how many products there are: it only chooses between two ways to the same list. */
const catalogueSize = createCache({
  from: [ProductModel],
  load: (_key: 'all') => ProductModel.estimatedDocumentCount(),
  isAbout: () => false,
});

/**
 * Products with the best price now, active and in maintenance, by code. All that can fail or wait is over when it
 * resolves; each product is priced when it is taken, as of the moment of the call, however often it is gone through.
 */
export async function getPriceList(filter: PriceListFilter): Promise<Iterable<PricedProduct>> {
  const condition = buildCondition(filter);
  // One copy of a catalogue that fits into the memory serves every filter.
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
  price,
  cost = null,
  providerAvailable = null,
  cutOff = null,
}: Offer): RoutableOffer {
  return { sellerId, price, cost, providerAvailable, cutOff };
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
