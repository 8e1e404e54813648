import { limits } from '../../config/limits.js';
import { getQuickCollection } from '../database/mongo.js';
import { createCache } from '../redis/cache.js';
import {
  getMarkupId,
  MarkupModel,
  getOwnerKey,
  type Markup,
  getMarkupIdRange,
  type MarkupOwner,
} from './markup.model.js';
import type { Product } from './product.model.js';

/** The fields of a product that select its markup. */
export type MarkupProduct = Pick<Product, '_id' | 'category' | 'subcategory'>;

/** Returns the markup in rupiah on the seller's price, or 0 if no rule matches. */
export type GetMarkup = (product: MarkupProduct, sellerPrice: number) => number;

/** The fields of a buyer's account that select its markups. */
export interface MarkupBuyer {
  _id: string;
  priceGroup?: string | null;
}

/** All markups (at most `limits.markupsMax`), cached together because every purchase needs them. */
const cachedRules = createCache({
  from: [MarkupModel],
  load: async (_key: 'all') => {
    const found = await getQuickCollection(MarkupModel).find().toArray();
    return { byId: new Map(found.map((each) => [each._id, each])), owners: new Set(found.map(getOwnerKey)) };
  },
});

/**
 * Loads the function that computes markups for a buyer, from cached rules. Only one rule applies. A
 * rule for the account precedes a rule for its price group, which precedes a rule for all buyers.
 * Within each of these, the order is product, subcategory, category, all products.
 */
export async function loadMarkups({ _id: accountId, priceGroup = null }: MarkupBuyer): Promise<GetMarkup> {
  const { byId, owners } = await cachedRules('all');
  const ruleOwners = [{ accountId }, { accountId: null, priceGroup }, { accountId: null }].filter((each) =>
    owners.has(getOwnerKey(each)),
  );
  return ({ _id, category, subcategory }, sellerPrice) => {
    for (const owner of ruleOwners) {
      const rule =
        byId.get(getMarkupId({ ...owner, scope: 'product', of: _id })) ??
        byId.get(getMarkupId({ ...owner, scope: 'subcategory', of: subcategory.toLowerCase() })) ??
        byId.get(getMarkupId({ ...owner, scope: 'category', of: category })) ??
        byId.get(getMarkupId({ ...owner, scope: 'all', of: null }));
      if (rule) {
        return computeMarkup(rule, sellerPrice);
      }
    }
    return 0;
  };
}

/**
 * Returns the markup rounded up to whole rupiah. It is capped so that the final price stays a safe
 * integer.
 */
export function computeMarkup(
  { percentHundredths, rupiah }: Pick<Markup, 'percentHundredths' | 'rupiah'>,
  sellerPrice: number,
): number {
  const added = rupiah ?? computePercent(sellerPrice, percentHundredths ?? 0);
  return Math.min(added, limits.moneyMax - sellerPrice);
}

function computePercent(price: number, hundredths: number): number {
  return Number((BigInt(price) * BigInt(hundredths) + 9_999n) / 10_000n);
}

/**
 * Returns a page of markups: for all buyers first, then by group, then by account.
 * @param query.owner Only markups of this owner.
 * @param query.after The last id of the previous page.
 */
export async function listMarkups(query: {
  owner?: MarkupOwner | undefined;
  after?: string | undefined;
  limit: number;
}): Promise<{ markups: Markup[]; next: string | null }> {
  const { owner, after = '', limit } = query;
  // Use a range of ids, so that the markups of other owners are not read.
  const ids = owner === undefined ? null : getMarkupIdRange(owner);
  const found = await MarkupModel.find({
    _id: { $gt: ids && ids.from > after ? ids.from : after, ...(ids && { $lt: ids.to }) },
  })
    .sort({ _id: 1 })
    .limit(limit + 1)
    .lean<Markup[]>();
  const markups = found.slice(0, limit);
  const last = markups.at(-1);
  return { markups, next: found.length > limit && last ? last._id : null };
}
