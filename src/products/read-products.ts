import { getQuickCollection } from '../database/mongo.js';
import { createCache } from '../redis/cache.js';
import { ProductModel, type Product, type ProductStatus } from './product.model.js';
import { OfferModel, type Offer } from './offer.model.js';
import { limits } from '../../config/limits.js';

/** Returns a product in any status from the cache, or null if it does not exist. */
export const findProduct = createCache({
  from: [ProductModel],
  load: (code: string) => getQuickCollection(ProductModel).findOne({ _id: code }),
  isAbout: ({ _id }, code) => _id === code,
});

/** Fields of a product that lists need. */
export const listedFields = {
  name: 1,
  category: 1,
  subcategory: 1,
  operator: 1,
  status: 1,
  description: 1,
  cutOff: 1,
  maxWaitS: 1,
} as const;

export type ListedProduct = Pick<Product, '_id' | keyof typeof listedFields>;

/**
 * Estimates the memory of a listed product in bytes: its texts plus the overhead of the JavaScript
 * engine.
 */
export function estimateListedBytes({ name, description }: ListedProduct): number {
  return Buffer.byteLength(name) + Buffer.byteLength(description ?? '') + 500;
}

/** Returns the usual spellings of a word, for a case-insensitive search by index. */
export function getSpellings(value: string): string[] {
  const lower = value.toLowerCase();
  return [
    ...new Set([value, lower, value.toUpperCase(), lower.replace(/(^|\s)\S/g, (each) => each.toUpperCase())]),
  ];
}

/** Number of rows loaded together. Decoding or dropping that many rows takes a few milliseconds. */
const pieceSize = 500;
/** Maximum bytes of all cached pieces of one kind of list. */
const bytesMax = 64 * 1024 * 1024;

interface Piece<R> {
  rows: R[];
  after: string;
  /** Code of the last row. Null in the last piece. */
  end: string | null;
  bytes: number;
}

interface PieceSource<L, R> {
  /** Reads at most `size` rows of a list with codes after `after`, ordered by code. */
  read: (list: L, after: string, size: number) => Promise<R[]>;
  codeOf: (row: R) => string;
  /** Estimates the memory of the row in bytes. */
  bytesOf: (row: R) => number;
}

/**
 * Caches lists of products in pieces of neighbouring codes (decision 030). Concurrent callers share
 * one load. A changed product or offer invalidates only the pieces that contain its code. Work is
 * split by piece, so that a whole list never blocks the event loop.
 *
 * @returns A function that returns all rows of a list, ordered by code. `L` must be JSON.
 */
export function cachePieces<L, R>({ read, codeOf, bytesOf }: PieceSource<L, R>): (list: L) => Promise<R[]> {
  async function load(key: string): Promise<Piece<R>> {
    const [after, list] = JSON.parse(key) as [string, L];
    const rows = await read(list, after, pieceSize);
    const last = rows.at(-1);
    return {
      rows,
      after,
      end: last && rows.length === pieceSize ? codeOf(last) : null,
      bytes: rows.reduce((sum, row) => sum + bytesOf(row), 0),
    };
  }
  const pieceOf = createCache({
    from: [ProductModel, OfferModel],
    load,
    isAbout: ({ after, end }, code) => code > after && (end === null || code <= end),
    weight: { of: ({ bytes }) => bytes, max: bytesMax },
  });

  return async (list) => {
    const rows: R[] = [];
    let after: string | null = '';
    while (after !== null) {
      const piece: Piece<R> = await pieceOf(JSON.stringify([after, list]));
      rows.push(...piece.rows);
      after = piece.end;
    }
    return rows;
  };
}

/** A product with the price of one of its sellers. */
export interface SellerProduct {
  product: ListedProduct;
  /** Price in rupiah. */
  price: number;
  /** For the owner, the status of the product. For another seller, the status of its offer. */
  status: ProductStatus;
}

const sellerOffers = cachePieces({
  read: readOffers,
  codeOf: ({ code }) => code,
  bytesOf: ({ shown }) => (shown ? estimateListedBytes(shown.product) : 0) + 100,
});

/**
 * Returns all products of a seller: its own, including inactive ones, and those for which it has an
 * offer.
 */
export async function listSellerProducts(sellerId: string): Promise<SellerProduct[]> {
  const offers = await sellerOffers(sellerId);
  return offers.slice(0, limits.productsPerSellerMax).flatMap(({ shown }) => shown ?? []);
}

async function readOffers(
  sellerId: string,
  after: string,
  size: number,
): Promise<{ code: string; shown: SellerProduct | null }[]> {
  const offers = await OfferModel.find({ sellerId, productCode: { $gt: after } })
    .sort({ productCode: 1 })
    .limit(size)
    .lean<Offer[]>();
  const codes = offers.map((each) => each.productCode);
  const products = await ProductModel.find({ _id: { $in: codes } }, { ...listedFields, sellerId: 1 }).lean<
    (ListedProduct & Pick<Product, 'sellerId'>)[]
  >();
  const productOf = new Map(products.map((each) => [each._id, each]));
  return offers.map((offer) => {
    const product = productOf.get(offer.productCode);
    const { price } = offer;
    const status = product?.sellerId === sellerId ? product.status : offer.status;
    return { code: offer.productCode, shown: product ? { product, price, status } : null };
  });
}
