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

/** What of a product says which rules fit it. */
export type MarkupProduct = Pick<Product, '_id' | 'category' | 'subcategory'>;

/** Rupiah above the seller's price of a product; 0 where no rule fits. */
export type GetMarkup = (product: MarkupProduct, sellerPrice: number) => number;

/** What of a buyer's account says which rules are for it. */
export interface MarkupBuyer {
  _id: string;
  priceGroup?: string | null;
}

/** All rules. There are few (`limits.markupsMax`), and every purchase asks: they are kept whole. */
const cachedRules = createCache({
  from: [MarkupModel],
  load: async (_key: 'all') => {
    const found = await getQuickCollection(MarkupModel).find().toArray();
    return { byId: new Map(found.map((each) => [each._id, each])), owners: new Set(found.map(getOwnerKey)) };
  },
});

/**
 * What is added to sellers' prices for a buyer, by the rules as they are now, from this process's memory: a purchase reads
 * nothing for it. One rule stands alone: one for this account before one for its price group, before one for all buyers, and of
 * each the one for the product before its subcategory, its category and all.
 */
export async function loadMarkups({ _id: accountId, priceGroup = null }: MarkupBuyer): Promise<GetMarkup> {
  const { byId, owners } = await cachedRules('all');
  const whose = [{ accountId }, { accountId: null, priceGroup }, { accountId: null }].filter((each) =>
    owners.has(getOwnerKey(each)),
  );
  return ({ _id, category, subcategory }, sellerPrice) => {
    for (const owner of whose) {
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

/** Rounded up to whole rupiah; never so much that the final price would be no safe number. */
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
 * A page of the rules by what they are for: those for all buyers first, then group by group, then account by account.
 * @param query.owner Those of this one alone. @param query.after The id of the last one seen.
 */
export async function listMarkups(query: {
  owner?: MarkupOwner | undefined;
  after?: string | undefined;
  limit: number;
}): Promise<{ markups: Markup[]; next: string | null }> {
  const { owner, after = '', limit } = query;
  // Along the ids alone: of an owner that has few, the rules of all the others are not read.
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
