import { AccountModel, type Account } from '../accounts/account.model.js';
import { getCommissionRate } from '../accounts/commission-rate-of.js';
import { computeCommission } from '../money/commission.js';
import { OfferModel, type Offer } from '../products/offer.model.js';
import { ProductModel, type Product, type ProductStatus } from '../products/product.model.js';
import { NotFoundError } from '../shared/errors.js';
import { groupBy } from '../shared/group-by.js';
import { asWritten } from '../shared/say.js';

/** An offer with what each side has of its price. Rupiah. */
export interface CatalogueOffer {
  seller: string;
  sellerId: string;
  /** It made the product: its status is that of the product. */
  isOwner: boolean;
  status: ProductStatus;
  price: number;
  /** What the platform keeps of it, and the rate of that. */
  commission: number;
  commissionRate: number;
  /** What its provider asks; null: not known. */
  cost: number | null;
  /** What the seller has left: price − commission − cost; null where the cost is not known. Below 0 it loses with each sale. */
  margin: number | null;
  /** What its provider says; null: not known. */
  isAvailable: boolean | null;
}

export interface CatalogueItem {
  product: Product;
  /** The cheapest first. */
  offers: CatalogueOffer[];
}

/** So many sellers of one product are shown. */
const offersMax = 200;

/**
 * A page of what is on sale, by code, along an index.
 * @param query.prefix Codes that begin so. @param query.sellerId What this one offers. @param query.after Codes after this one.
 */
export async function findCataloguePage(query: {
  prefix?: string | undefined;
  sellerId?: string | undefined;
  after?: string | undefined;
  limit: number;
}): Promise<{ items: CatalogueItem[]; next: string | null }> {
  const { prefix = '', sellerId, after = '', limit } = query;
  const codes = { $gt: after, $gte: prefix, $lt: `${prefix}\uffff` };
  const found =
    sellerId === undefined
      ? await ProductModel.find({ _id: codes })
          .sort({ _id: 1 })
          .limit(limit + 1)
          .lean<Product[]>()
      : await findSellerProducts(sellerId, codes, limit + 1);
  const shown = found.slice(0, limit);
  return { items: await addOffers(shown), next: found.length > limit ? (shown.at(-1)?._id ?? null) : null };
}

/** @throws NotFoundError */
export async function findCatalogueItem(code: string): Promise<CatalogueItem> {
  const product = await ProductModel.findById(code).lean<Product>();
  const [item] = product ? await addOffers([product]) : [];
  if (!item) {
    throw new NotFoundError(asWritten(`There is no product ${code}.`));
  }
  return item;
}

/** What each side has of a price: `commission` and `margin` of a `CatalogueOffer`. */
export function computeShares({
  price,
  cost,
  commissionRate,
}: Pick<CatalogueOffer, 'price' | 'cost' | 'commissionRate'>) {
  const commission = computeCommission(price, commissionRate);
  return { commission, margin: cost === null ? null : price - commission - cost };
}

async function findSellerProducts(sellerId: string, codes: object, limit: number): Promise<Product[]> {
  const offered = await OfferModel.find({ sellerId, productCode: codes }, { productCode: 1 })
    .sort({ productCode: 1 })
    .limit(limit)
    .lean<Pick<Offer, 'productCode'>[]>();
  return ProductModel.find({ _id: { $in: offered.map(({ productCode }) => productCode) } })
    .sort({ _id: 1 })
    .lean<Product[]>();
}

type Seller = Pick<Account, '_id' | 'username' | 'commissionRate'>;

async function addOffers(products: Product[]): Promise<CatalogueItem[]> {
  const offers = await OfferModel.find({ productCode: { $in: products.map(({ _id }) => _id) } })
    .limit(offersMax * products.length)
    .lean<Offer[]>();
  const sellerIds = [...new Set(offers.map(({ sellerId }) => sellerId))];
  const sellers = await AccountModel.find(
    { _id: { $in: sellerIds } },
    { username: 1, commissionRate: 1 },
  ).lean<Seller[]>();
  const sellerOf = new Map(sellers.map((each) => [each._id, each]));
  const offersOf = groupBy(offers, ({ productCode }) => productCode);
  return products.map((product) => ({
    product,
    offers: (offersOf.get(product._id) ?? [])
      .map((offer) => buildCatalogueOffer(product, offer, sellerOf.get(offer.sellerId)))
      .sort((a, b) => a.price - b.price),
  }));
}

function buildCatalogueOffer(product: Product, offer: Offer, seller: Seller | undefined): CatalogueOffer {
  const { sellerId, price, cost = null } = offer;
  const isOwner = sellerId === product.sellerId;
  const commissionRate = getCommissionRate({ commissionRate: seller?.commissionRate ?? null });
  return {
    seller: seller?.username ?? sellerId,
    sellerId,
    isOwner,
    price,
    cost,
    commissionRate,
    ...computeShares({ price, cost, commissionRate }),
    status: isOwner ? product.status : offer.status,
    isAvailable: offer.providerAvailable ?? null,
  };
}
