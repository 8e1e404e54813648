import { AccountModel, type Account } from '../accounts/account.model.js';
import { getCommissionRate } from '../accounts/effective-settings.js';
import { computeCommission } from '../money/commission.js';
import { buildPriceUpdate, getSku, isBelowCost, OfferModel, type Offer } from '../products/offer.model.js';
import { ProductModel, type Product, type ProductStatus } from '../products/product.model.js';
import { NotFoundError, ConflictError } from '../shared/errors.js';
import { groupBy } from '../shared/collections.js';
import { asWritten } from '../shared/say.js';
import type { ChangedBy } from '../audit/record-audit.js';
import { runInTransaction } from '../database/mongo.js';
import { writeAndInvalidate } from '../redis/publish-changes.js';
import { recordOffer } from '../products/put-offer.js';
import { setSku } from '../products/set-sku.js';
import { updateProduct } from '../products/update-product.js';

/** An offer with each party's share of its price, in rupiah. */
export interface CatalogueOffer {
  seller: string;
  sellerId: string;
  /** True if the seller created the product. Then `status` is the status of the product. */
  isOwner: boolean;
  /** The product's code at the seller's provider. */
  sku: string;
  status: ProductStatus;
  price: number;
  /** The platform's share of the price. */
  commission: number;
  commissionRate: number;
  /** The provider's cost. Null if unknown. */
  cost: number | null;
  /**
   * The seller's share: price − commission − cost. Null if the cost is unknown. If it is negative,
   * every sale loses money.
   */
  margin: number | null;
  /** True if routing does not use the offer because its cost is above its price. */
  isBelowCost: boolean;
  /** Availability according to the provider. Null if unknown. */
  isAvailable: boolean | null;
}

export interface CatalogueItem {
  product: Product;
  /** Cheapest first. */
  offers: CatalogueOffer[];
}

/** Maximum number of offers per product, averaged over a page. */
const offersMax = 200;

/**
 * Returns a page of products with their offers, ordered by code.
 * @param query.prefix Only codes with this prefix.
 * @param query.sellerId Only products that this seller offers.
 * @param query.after Only codes after this one.
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

/**
 * Returns one product with its offers.
 * @throws NotFoundError if the product does not exist.
 */
export async function findCatalogueItem(code: string): Promise<CatalogueItem> {
  const product = await ProductModel.findById(code).lean<Product>();
  const [item] = product ? await addOffers([product]) : [];
  if (!item) {
    throw new NotFoundError(asWritten(`There is no product ${code}.`));
  }
  return item;
}

/** Computes `commission` and `margin` of a `CatalogueOffer`, in rupiah. */
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
    sku: getSku(offer),
    price,
    cost,
    commissionRate,
    ...computeShares({ price, cost, commissionRate }),
    status: isOwner ? product.status : offer.status,
    isBelowCost: isBelowCost(offer, product),
    isAvailable: offer.providerAvailable ?? null,
  };
}

/**
 * Changes an existing offer. Omitted fields keep their value, and accepted purchases keep their
 * price.
 * @throws NotFoundError (404/02) if the offer does not exist.
 */
export async function changeOffer(
  change: {
    sellerId: string;
    productCode: string;
    /** Price in rupiah. */
    price?: number | undefined;
    /** See `Offer`. Read only with a price. */
    costAllowed?: number | null | undefined;
    status?: ProductStatus | undefined;
  },
  by: ChangedBy,
): Promise<void> {
  const { sellerId, productCode, price, costAllowed, status } = change;
  const { $set, ...others } = price === undefined ? { $set: {} } : buildPriceUpdate(price, costAllowed);
  await writeAndInvalidate([OfferModel], [productCode], (offers) =>
    runInTransaction(async (session) => {
      const before = await offers
        .findOneAndUpdate(
          { _id: `${productCode}:${sellerId}` },
          { ...others, $set: { ...$set, ...(status && { status }) } },
          { session, returnDocument: 'before' },
        )
        .lean<Offer>();
      if (!before) {
        throw new NotFoundError(asWritten(`This seller has no offer for ${productCode}.`));
      }
      const after = { productCode, sellerId, price: price ?? before.price, status: status ?? before.status };
      await recordOffer(session, by, { before, after });
    }),
  );
}

export interface OfferChange {
  code: string;
  sellerId: string;
  /** Price in rupiah. */
  price?: number | undefined;
  /** Status of the whole product, if the seller created the product. */
  status?: ProductStatus | undefined;
  /** The product's code at the provider of the seller. Null restores the product code. */
  sku?: string | null | undefined;
  /** True to allow sales below the present cost. A higher cost stops the sales again. */
  belowCost?: boolean | undefined;
}

/**
 * Changes an existing offer on behalf of its seller, as the operator. Accepted purchases keep their
 * price.
 * @throws NotFoundError if the product or the offer does not exist.
 * @throws ConflictError if the new price gives a negative margin and `belowCost` is not true.
 */
export async function setOffer(change: OfferChange, by: ChangedBy): Promise<CatalogueOffer> {
  const { code, sellerId, price, status, sku } = change;
  if (sku !== undefined) {
    await setSku({ sellerId, productCode: code, sku }, by);
  }
  const before = await findOffer(code, sellerId);
  const margin =
    price === undefined || price === before.price ? null : computeShares({ ...before, price }).margin;
  if (margin !== null && margin < 0 && change.belowCost !== true) {
    throw new ConflictError(
      asWritten(
        `At ${String(price)} rupiah each sale loses ${-margin}: the provider charges ${String(before.cost)}, and the commission is deducted. Confirm below cost if this is intended.`,
      ),
    );
  }
  const isCostAllowed = change.belowCost === true && (before.cost ?? 0) > (price ?? before.price);
  const figures = {
    price: isCostAllowed ? (price ?? before.price) : price,
    costAllowed: isCostAllowed ? before.cost : null,
    status,
  };
  if (before.isOwner) {
    await updateProduct({ sellerId, code, ...figures }, by);
  } else {
    await changeOffer({ sellerId, productCode: code, ...figures }, by);
  }
  return findOffer(code, sellerId);
}

async function findOffer(code: string, sellerId: string): Promise<CatalogueOffer> {
  const { offers } = await findCatalogueItem(code);
  const found = offers.find((each) => each.sellerId === sellerId);
  if (!found) {
    throw new NotFoundError(asWritten(`This seller has no offer for ${code}.`));
  }
  return found;
}
