import type { Account } from '../accounts/account.model.js';
import { getSku, OfferModel, type Offer } from '../products/offer.model.js';
import { ConflictError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import type { ProviderProduct } from './adapter.js';
import { getAdapter, buildConnection } from './get-adapter.js';
import { indexByCode } from './stream-rows.js';

/**
 * Differences between an offer and the provider's price list.
 *
 * - below-cost: the price of the offer is lower than the provider's cost.
 * - not-listed: the provider does not sell the product.
 * - unreadable: the row of the product cannot be read.
 */
export const priceDifferences = [
  'below-cost',
  'not-listed',
  'unreadable',
  'unavailable',
  'cost-changed',
] as const;

export interface PriceDifference {
  productCode: string;
  what: (typeof priceDifferences)[number];
  /** The seller's price in rupiah. */
  price: number;
  /** The cost in rupiah that the offer stores. Null if unknown. */
  cost: number | null;
  /** The cost in rupiah in the provider's list. Null if the list has none. */
  theirCost: number | null;
}

export interface PriceComparison {
  offers: number;
  listed: number;
  differences: PriceDifference[];
}

/**
 * Compares a provider's price list with the active offers of its seller. This writes nothing.
 * @throws ConflictError if the seller has no provider, or the provider does not return its list.
 */
export async function comparePriceList(
  seller: Pick<Account, '_id' | 'username' | 'provider'>,
): Promise<PriceComparison> {
  if (!seller.provider) {
    throw new ConflictError(asWritten(`${seller.username} has no provider.`));
  }
  const offers = await OfferModel.find({ sellerId: seller._id }).lean<Offer[]>();
  const active = offers.filter(({ status }) => status === 'active');
  const codes = new Set(active.map(getSku));
  const reading = await getAdapter(seller.provider.kind).priceList(buildConnection(seller), (code) =>
    codes.has(code),
  );
  if (!reading.ok) {
    throw new ConflictError(
      asWritten(`The provider did not return its price list (${reading.code}): ${reading.message}`),
    );
  }
  const rowOf = indexByCode(reading.value);
  const unread = new Set(reading.unreadable?.codes);
  return {
    offers: active.length,
    listed: active.filter((offer) => rowOf.has(getSku(offer))).length,
    differences: active.flatMap((offer) => findDifferences(offer, rowOf.get(getSku(offer)), unread)),
  };
}

function findDifferences(
  offer: Offer,
  row: ProviderProduct | undefined,
  unread: ReadonlySet<string>,
): PriceDifference[] {
  const { productCode, price, cost = null } = offer;
  const found: PriceDifference['what'][] = row
    ? [
        ...(row.cost > price ? (['below-cost'] as const) : []),
        ...(row.available ? [] : (['unavailable'] as const)),
        ...(cost !== null && cost !== row.cost ? (['cost-changed'] as const) : []),
      ]
    : [unread.has(getSku(offer)) ? 'unreadable' : 'not-listed'];
  return found.map((what) => ({ productCode, what, price, cost, theirCost: row?.cost ?? null }));
}
