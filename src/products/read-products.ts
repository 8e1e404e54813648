import { getQuickCollection } from '../database/mongo.js';
import { createCache } from '../redis/cache.js';
import { ProductModel, type Product, type ProductStatus } from './product.model.js';
import { OfferModel, type Offer } from './offer.model.js';
import { limits } from '../../config/limits.js';

/** A product in whatever status, from this process's memory; null if there is none. */
export const findProduct = createCache({
  from: [ProductModel],
  load: (code: string) => getQuickCollection(ProductModel).findOne({ _id: code }),
  isAbout: ({ _id }, code) => _id === code,
});

/** What lists read of a product. */
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

/** Roughly what one weighs in memory: its texts, and what the engine needs to hold them. */
export function estimateListedBytes({ name, description }: ListedProduct): number {
  return Buffer.byteLength(name) + Buffer.byteLength(description ?? '') + 500;
}

/** How a word of the catalogue is searched by an index: as it was sent, and as such words are mostly written. */
export function getSpellings(value: string): string[] {
  const lower = value.toLowerCase();
  return [
    ...new Set([value, lower, value.toUpperCase(), lower.replace(/(^|\s)\S/g, (each) => each.toUpperCase())]),
  ];
}

/** Rows that are read, decoded and dropped at once: a few milliseconds of a process. */
const pieceSize = 500;
/** What the pieces of one kind of list may weigh together in the memory of a process. */
const bytesMax = 64 * 1024 * 1024;

interface Piece<R> {
  rows: R[];
  after: string;
  /** Code of its last row; null: it is the last piece. */
  end: string | null;
  bytes: number;
}

interface PieceSource<L, R> {
  /** At most `size` rows about the products of a list whose codes come after `after`, by code. */
  read: (list: L, after: string, size: number) => Promise<R[]>;
  codeOf: (row: R) => string;
  /** Roughly what the row weighs in memory. */
  bytesOf: (row: R) => number;
}

/**
 * Lists of products from each process's own memory, kept in pieces of neighbouring codes (decision 030): callers at the
 * same time read a piece once, a change of a product or an offer drops the pieces that its code belongs to, and nothing
 * holds the event loop for as long as a whole list takes.
 * @returns what gives all the rows of a list, by code. `L` must be JSON.
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

/** A product as one of its sellers sees it: with the seller's own price. */
export interface SellerProduct {
  product: ListedProduct;
  /** Rupiah. */
  price: number;
  /** Of the product for its owner, of the offer for others. */
  status: ProductStatus;
}

const sellerOffers = cachePieces({
  read: readOffers,
  codeOf: ({ code }) => code,
  bytesOf: ({ shown }) => (shown ? estimateListedBytes(shown.product) : 0) + 100,
});

/** Everything that a seller sells: its own products, inactive ones too, and those it made an offer for. */
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
