import { createHash } from 'node:crypto';
import { limits } from '../../../config/limits.js';
import type { Account } from '../../accounts/account.model.js';
import { getCommissionRate } from '../../accounts/effective-settings.js';
import { getSku, OfferModel, type Offer } from '../../products/offer.model.js';
import { ProductModel, type Product } from '../../products/product.model.js';
import { splitIntoChunks } from '../../shared/collections.js';
import { ConflictError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import type { ProviderProduct } from '../adapter.js';
import { computeShares } from '../catalogue.js';
import { buildConnection, getAdapter } from '../get-adapter.js';
import { planImport, type ImportPlan } from '../imports/plan-import.js';
import type { PriceLine } from '../imports/read-price-file.js';
import { findActiveOffers } from '../routing-cache.js';
import { computePrice, type MarginRule } from './margin-rule.js';
import { proposeProduct, type ProposedProduct } from './propose-product.js';

export type CatalogueSeller = Pick<
  Account,
  '_id' | 'username' | 'provider' | 'commissionRate' | 'productLimit'
>;

/** Which rows of a price list to import, and at which price. Texts are compared without case. */
export interface CatalogueRequest {
  /** The provider's own category. */
  group?: string | undefined;
  brand?: string | undefined;
  /** Part of the provider's code or name. */
  search?: string | undefined;
  margin: MarginRule;
  /** Existing products by the provider's code, for products that the seller does not offer yet. */
  mapped?: ReadonlyMap<string, string> | undefined;
}

/** A new offer, with the product that it creates. */
export interface NewOffer {
  /** Row in the price list, counted from 1. */
  line: number;
  sku: string;
  /** The provider's own name. */
  listedName: string;
  product: ProposedProduct;
  /** True if the product exists and only the offer is new. */
  isMapped: boolean;
  /** In rupiah. */
  cost: number;
  price: number;
  /** True if each sale would lose money after the commission. Needs confirmation. */
  loses: boolean;
  /**
   * True if the mapped product has another operator, or offers at less than half or five times the
   * price. Needs confirmation.
   */
  isUnlike: boolean;
}

/** Reasons why a row is not imported. */
export const skipReasons = [
  'unavailable',
  'no-code',
  'code-taken',
  'no-product',
  'other-kind',
  'already-offered',
  'too-expensive',
  'repeated',
] as const;
export type SkipReason = (typeof skipReasons)[number];

export interface CataloguePlan {
  /** Rows of the list that match the filter. */
  rows: number;
  creates: NewOffer[];
  /** Price and cost changes of offers that exist. */
  changes: ImportPlan;
  skipped: { line: number; sku: string; why: SkipReason }[];
  /** SHA-256 over everything that the import would write. */
  fingerprint: string;
}

interface Row extends ProviderProduct {
  line: number;
}

/**
 * Plans the import of a provider's price list into products and offers. This writes nothing.
 *
 * A row belongs to the offer of this seller with the same code at the provider. Without one it
 * becomes a new product. A code that another product has is never taken as the same thing, because
 * providers use equal codes for different products: such a row needs an entry in `mapped`.
 *
 * @throws ConflictError if the seller has no provider, or the list cannot be read.
 */
export async function planCatalogue(
  seller: CatalogueSeller,
  request: CatalogueRequest,
): Promise<CataloguePlan> {
  const mapped = request.mapped ?? new Map<string, string>();
  const rows = await readRows(seller, request);
  const offersOf = await findOffersBySku(seller._id);
  const offered = new Set([...offersOf.values()].flat().map(({ productCode }) => productCode));
  const proposals = rows.map((row) => ({ row, product: proposeProduct(row) }));
  const known = await findProducts([
    ...proposals.map(({ product }) => product.code),
    ...mapped.values(),
    ...proposals.flatMap(({ row }) => (offersOf.get(row.code) ?? []).map((offer) => offer.productCode)),
  ]);
  const cheapestOf = await findCheapestPrices([...new Set(mapped.values())]);
  const commissionRate = getCommissionRate(seller);
  const skipped: CataloguePlan['skipped'] = [];
  const creates: NewOffer[] = [];
  const lines: PriceLine[] = [];
  const seen = new Set<string>();
  for (const { row, product } of proposals) {
    const { line, code: sku, cost } = row;
    // A bill sets its own price. The list shows its admin fee.
    const price = row.adminFee ?? computePrice(cost, request.margin);
    const code = mapped.get(sku) ?? product.code;
    const ofSku = offersOf.get(sku) ?? [];
    const offers = ofSku.filter((offer) => known.get(offer.productCode)?.category === product.category);
    const isOther = ofSku.length > offers.length && offers.length === 0;
    const found = { price, product, code, mapped, known, offered, seen, hasOffer: offers.length > 0 };
    const why = isOther ? 'other-kind' : findSkipReason(row, found);
    seen.add(`row ${sku} ${product.category}`);
    if (why) {
      skipped.push({ line, sku, why });
      continue;
    }
    seen.add(`product ${code}`);
    if (offers.length > 0) {
      for (const { productCode } of offers) {
        lines.push({ line, code: productCode, seller: seller.username, price, cost });
      }
      continue;
    }
    const existing = known.get(code);
    const { margin } = computeShares({ price, cost, commissionRate });
    creates.push({
      line,
      sku,
      listedName: product.name,
      product: existing ? toProposed(existing) : product,
      isMapped: existing !== undefined,
      cost,
      price,
      loses: row.adminFee === undefined && margin !== null && margin < 0,
      isUnlike: existing !== undefined && isUnlike(existing, { product, price, usual: cheapestOf.get(code) }),
    });
  }
  const changes = await planImport({ lines: lines.length, wanted: lines, refused: [] });
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([creates, changes.fingerprint]))
    .digest('hex');
  return { rows: rows.length, creates, changes, skipped, fingerprint };
}

/** True if a mapped product is likely to be another one than that of the row. */
function isUnlike(
  existing: Product,
  { product, price, usual }: { product: ProposedProduct; price: number; usual: number | undefined },
): boolean {
  const isSameOperator =
    existing.operator === null ||
    product.operator === null ||
    existing.operator.toLowerCase() === product.operator.toLowerCase();
  return !isSameOperator || (usual !== undefined && (price < usual / 2 || price >= usual * 5));
}

async function readRows(seller: CatalogueSeller, request: CatalogueRequest): Promise<Row[]> {
  if (!seller.provider) {
    throw new ConflictError(
      asWritten(`${seller.username} has no provider. Set one first: topup provider set.`),
    );
  }
  const reading = await getAdapter(seller.provider.kind).priceList(buildConnection(seller));
  if (!reading.ok) {
    throw new ConflictError(
      asWritten(`The provider did not return its price list (${reading.code}): ${reading.message}`),
    );
  }
  const listed = new Set(reading.value.map(({ code }) => code));
  const unused = [...(request.mapped?.keys() ?? [])].filter((sku) => !listed.has(sku));
  if (unused.length > 0) {
    throw new ConflictError(
      asWritten(`The price list has no code ${unused.slice(0, 10).join(', ')}. Correct the mapping.`),
    );
  }
  const isSame = (wanted: string | undefined, text: string | undefined) =>
    wanted === undefined || wanted.toLowerCase() === text?.trim().toLowerCase();
  const search = request.search?.toLowerCase() ?? '';
  return reading.value
    .map((row, at) => ({ ...row, line: at + 1 }))
    .filter(({ group, brand }) => isSame(request.group, group) && isSame(request.brand, brand))
    .filter(({ code, name }) => `${code} ${name ?? ''}`.toLowerCase().includes(search));
}

function findSkipReason(
  { code: sku, cost, available, adminFee }: Row,
  found: {
    price: number;
    product: ProposedProduct;
    code: string;
    mapped: ReadonlyMap<string, string>;
    known: ReadonlyMap<string, Product>;
    /** Products that the seller offers. */
    offered: ReadonlySet<string>;
    seen: ReadonlySet<string>;
    hasOffer: boolean;
  },
): SkipReason | null {
  const { price, product, code, mapped, known, offered, seen, hasOffer } = found;
  if (seen.has(`row ${sku} ${product.category}`)) {
    return 'repeated';
  }
  if (price > limits.offerPriceMax) {
    return 'too-expensive';
  }
  if (cost === 0 && adminFee === undefined) {
    return 'unavailable';
  }
  if (hasOffer) {
    return null;
  }
  if (!available) {
    return 'unavailable';
  }
  if (code === '') {
    return 'no-code';
  }
  const existing = known.get(code);
  if (!mapped.has(sku)) {
    return existing || seen.has(`product ${code}`) ? 'code-taken' : null;
  }
  if (!existing) {
    return 'no-product';
  }
  if (existing.category !== product.category) {
    return 'other-kind';
  }
  return offered.has(code) || seen.has(`product ${code}`) ? 'already-offered' : null;
}

/** The lowest price of the active offers of each product, in rupiah. */
async function findCheapestPrices(codes: string[]): Promise<Map<string, number>> {
  const cheapest = new Map<string, number>();
  for (const [code, offers] of await findActiveOffers(codes)) {
    cheapest.set(code, Math.min(...offers.map(({ price }) => price)));
  }
  return cheapest;
}

async function findOffersBySku(sellerId: string): Promise<Map<string, Offer[]>> {
  const offers = new Map<string, Offer[]>();
  const cursor = OfferModel.find({ sellerId }, { productCode: 1, sku: 1 }).lean<Offer[]>().cursor();
  for await (const offer of cursor) {
    const sku = getSku(offer);
    offers.set(sku, [...(offers.get(sku) ?? []), offer]);
  }
  return offers;
}

async function findProducts(codes: string[]): Promise<Map<string, Product>> {
  const found = new Map<string, Product>();
  for (const some of splitIntoChunks([...new Set(codes)], 1_000)) {
    for (const product of await ProductModel.find({ _id: { $in: some } }).lean<Product[]>()) {
      found.set(product._id, product);
    }
  }
  return found;
}

function toProposed({ _id, name, category, subcategory, operator }: Product): ProposedProduct {
  return { code: _id, name, category, subcategory, operator };
}
