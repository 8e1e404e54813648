import { createHash } from 'node:crypto';
import { AccountModel, type Account } from '../../accounts/account.model.js';
import { getCommissionRate } from '../../accounts/effective-settings.js';
import { getSku, OfferModel, type Offer } from '../../products/offer.model.js';
import { ProductModel, type Product } from '../../products/product.model.js';
import { splitIntoChunks } from '../../shared/collections.js';
import { computeShares } from '../catalogue.js';
import type { OfferFigures } from './price-import.model.js';
import type { PriceFile, PriceLine, RefusedLine } from './read-price-file.js';

export interface PlannedChange {
  line: number;
  code: string;
  seller: string;
  sellerId: string;
  /** The code at the provider to which the figures belong. */
  sku: string;
  /** True if the seller created the product. Then `status` is the status of the product. */
  isOwner: boolean;
  before: OfferFigures;
  after: OfferFigures;
  /** The seller's margin after the change, in rupiah. Null if the cost is unknown. */
  margin: number | null;
  /** True if the new price or cost gives a negative margin. Needs confirmation (decision 012). */
  loses: boolean;
  /**
   * True if the price falls by more than half, perhaps because zeros are missing. Needs
   * confirmation.
   */
  falls: boolean;
  /**
   * True if the price rises at least fivefold, perhaps because of an extra zero. Needs
   * confirmation.
   */
  rises: boolean;
}

/** The changes that a price list would make now. */
export interface ImportPlan {
  lines: number;
  changes: PlannedChange[];
  /** Number of lines whose values equal those of the offer. */
  unchanged: number;
  /** Refused lines, ordered by line. */
  refused: RefusedLine[];
  /** SHA-256 over all changes. Equal plans have equal fingerprints. */
  fingerprint: string;
}

const readBatchSize = 1_000;

/** Compares a price list with the existing offers. This writes nothing. */
export async function planImport({ lines, wanted, refused }: PriceFile): Promise<ImportPlan> {
  const changes: PlannedChange[] = [];
  const alsoRefused: RefusedLine[] = [];
  let unchanged = 0;
  for (const some of splitIntoChunks(wanted, readBatchSize)) {
    const known = await readKnownOffers(some);
    for (const each of some) {
      const planned = planLine(each, known);
      if (planned === 'unchanged') {
        unchanged += 1;
      } else if (typeof planned === 'string') {
        alsoRefused.push({ line: each.line, why: planned });
      } else {
        changes.push(planned);
      }
    }
  }
  return {
    lines,
    changes,
    unchanged,
    refused: [...refused, ...alsoRefused].sort((a, b) => a.line - b.line),
    fingerprint: createHash('sha256').update(JSON.stringify(changes)).digest('hex'),
  };
}

/** Reasons why a change needs confirmation, most important first. */
export const confirmReasons = ['falls', 'rises', 'loses'] as const;
export type ConfirmReason = (typeof confirmReasons)[number];

/**
 * Sorts changes for review. Changes that need confirmation come first, then larger price changes,
 * then earlier lines.
 */
export function sortByImportance(changes: readonly PlannedChange[]): PlannedChange[] {
  const rank = (change: PlannedChange) => {
    const place = confirmReasons.findIndex((why) => change[why]);
    return place < 0 ? confirmReasons.length : place;
  };
  const partOf = ({ before, after, falls, rises }: PlannedChange) =>
    falls ? after.price / before.price : rises ? before.price / after.price : 1;
  return changes.toSorted((a, b) => rank(a) - rank(b) || partOf(a) - partOf(b) || a.line - b.line);
}

type Seller = Pick<Account, '_id' | 'username' | 'commissionRate'>;

interface KnownOffers {
  products: Map<string, Pick<Product, '_id' | 'sellerId' | 'category' | 'status'>>;
  sellers: Map<string, Seller>;
  offers: Map<string, Offer>;
}

async function readKnownOffers(wanted: PriceLine[]): Promise<KnownOffers> {
  const named = (of: 'code' | 'seller') => [...new Set(wanted.map((each) => each[of]))];
  const [products, sellers] = await Promise.all([
    ProductModel.find({ _id: { $in: named('code') } }, { sellerId: 1, category: 1, status: 1 }).lean<
      Pick<Product, '_id' | 'sellerId' | 'category' | 'status'>[]
    >(),
    AccountModel.find({ username: { $in: named('seller') } }, { username: 1, commissionRate: 1 }).lean<
      Seller[]
    >(),
  ]);
  const bySeller = new Map(sellers.map((each) => [each.username, each]));
  const offerIds = wanted.map(({ code, seller }) => getOfferId(code, bySeller.get(seller)?._id ?? ''));
  const offers = await OfferModel.find({ _id: { $in: offerIds } }).lean<Offer[]>();
  return {
    products: new Map(products.map((each) => [each._id, each])),
    sellers: bySeller,
    offers: new Map(offers.map((each) => [each._id, each])),
  };
}

export function getOfferId(code: string, sellerId: string): string {
  return `${code}:${sellerId}`;
}

function planLine(
  { line, code, seller: username, ...wanted }: PriceLine,
  { products, sellers, offers }: KnownOffers,
): PlannedChange | RefusedLine['why'] | 'unchanged' {
  const product = products.get(code);
  const seller = sellers.get(username);
  if (!product) {
    return 'unknown-product';
  }
  if (!seller) {
    return 'unknown-seller';
  }
  const offer = offers.get(getOfferId(code, seller._id));
  if (!offer) {
    return 'no-offer';
  }
  const isOwner = product.sellerId === seller._id;
  const before = getOfferFigures(offer, isOwner ? product : null);
  const after: OfferFigures = { ...before, ...wanted };
  if (hasSameFigures(before, after)) {
    return 'unchanged';
  }
  const { margin } = computeShares({ ...after, commissionRate: getCommissionRate(seller) });
  const isRepriced = before.price !== after.price || before.cost !== after.cost;
  return {
    line,
    code,
    sku: getSku(offer),
    seller: username,
    sellerId: seller._id,
    isOwner,
    before,
    after,
    margin,
    // A bill sets its own price.
    loses: isRepriced && margin !== null && margin < 0 && product.category === 'prabayar',
    falls: after.price * 2 < before.price,
    rises: after.price > before.price && after.price >= before.price * 5,
  };
}

/**
 * Returns the values of an offer that an import can set.
 * @param owned The product, if the offer belongs to the owner of the product.
 */
export function getOfferFigures(
  { price, cost, status }: Pick<Offer, 'price' | 'cost' | 'status'>,
  owned: Pick<Product, 'status'> | null,
): OfferFigures {
  return { price, cost: cost ?? null, status: owned?.status ?? status };
}

function hasSameFigures(a: OfferFigures, b: OfferFigures): boolean {
  return a.price === b.price && a.cost === b.cost && a.status === b.status;
}
