import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import { productCode, text, wholeNumber, timestamp } from '../../api/contract/fields.js';
import {
  type PurchaseFilter,
  resolvePurchaseFilter as filterOf,
  getPartyIds,
  findPurchasePage,
} from '../../purchases/operator-list.js';
import { purchaseStatuses, type PurchaseStatus } from '../../purchases/purchase.model.js';
import { day } from '../api/list-query.js';
import { findUsernames } from '../../accounts/find-account.js';
import { defineConsoleOperation, requiredObject } from '../api/console-operation.js';
import { presentPurchase, purchaseData } from './present-purchase.js';
import { sumPurchases } from '../../purchases/sum-purchases.js';
import { searchPurchasesAndAccounts, searchLength } from '../../purchases/search-purchases.js';

/** Filter of the purchase list, its sums and its CSV. */
export interface PurchaseFilterQuery {
  account?: string;
  seller?: string;
  status?: PurchaseStatus;
  product?: string;
  price_from?: number;
  price_to?: number;
  from?: string;
  to?: string;
}

/** Price in rupiah. */
const price = wholeNumber({ max: limits.offerPriceMax });

export const purchaseFilterFields = {
  account: text(64),
  seller: text(64),
  status: Joi.string().valid(...purchaseStatuses),
  product: productCode,
  price_from: price,
  price_to: price,
  from: day,
  to: day,
};

/**
 * Resolves the usernames of a filter query to account ids.
 * @throws NotFoundError if an account does not exist.
 */
export function buildPurchaseFilter(query: PurchaseFilterQuery): Promise<PurchaseFilter> {
  const { product, price_from, price_to, ...same } = query;
  return filterOf({ ...same, productCode: product, priceFrom: price_from, priceTo: price_to });
}

interface Query extends PurchaseFilterQuery {
  after?: string;
  limit: number;
}

export const listPurchases = defineConsoleOperation<unknown, unknown, Query>({
  id: 'listPurchases',
  method: 'get',
  path: '/purchases',
  action: 'purchase.look',
  summary: 'Purchases that match a filter, newest first, a page at a time',
  query: Joi.object<Query>({
    ...purchaseFilterFields,
    after: text(100),
    limit: wholeNumber({ max: 100, standard: 50 }),
  }),
  data: requiredObject({
    purchases: Joi.array().items(purchaseData),
    next: Joi.string().allow(null),
    looked_back_to: timestamp.allow(null),
  }),
  async handle({ query: { after, limit, ...query } }) {
    const page = await findPurchasePage(await buildPurchaseFilter(query), { after, limit });
    const usernames = await findUsernames(getPartyIds(page.purchases));
    return {
      purchases: page.purchases.map((each) => presentPurchase(each, usernames)),
      next: page.next,
      looked_back_to: page.searchedBackTo?.toISOString() ?? null,
    };
  },
});

export const getPurchaseSums = defineConsoleOperation<unknown, unknown, PurchaseFilterQuery>({
  id: 'getPurchaseSums',
  method: 'get',
  path: '/purchases/sums',
  action: 'purchase.look',
  summary: 'Sums of the purchases that match a filter',
  query: Joi.object<PurchaseFilterQuery>(purchaseFilterFields),
  data: requiredObject({
    count: Joi.number(),
    by_status: Joi.array().items(
      requiredObject({
        status: Joi.string().valid(...purchaseStatuses),
        count: Joi.number(),
        amount: Joi.number().description('Rupiah: the prices.'),
      }),
    ),
    commission: Joi.number().description('Rupiah of these that the platform keeps.'),
    looked_back_to: timestamp
      .allow(null)
      .description(
        'The sums cover purchases since this time only; older ones were not read. Null: they cover all.',
      ),
  }),
  async handle({ query }) {
    const { byStatus, commission, searchedBackTo } = await sumPurchases(await buildPurchaseFilter(query));
    return {
      count: byStatus.reduce((all, { count }) => all + count, 0),
      by_status: byStatus,
      commission,
      looked_back_to: searchedBackTo?.toISOString() ?? null,
    };
  },
});

export const searchCall = defineConsoleOperation<unknown, unknown, { q: string }>({
  id: 'search',
  method: 'get',
  path: '/search',
  action: 'purchase.look',
  summary: 'Search purchases by id, ref_id, customer number or serial number, and accounts by prefix',
  query: Joi.object<{ q: string }>({ q: text(searchLength.max).min(searchLength.min).required() }),
  data: requiredObject({
    purchases: Joi.array().items(purchaseData),
    accounts: Joi.array().items(
      requiredObject({ username: Joi.string(), role: Joi.string().valid('buyer', 'seller') }),
    ),
  }),
  async handle({ query: { q } }) {
    const { purchases, accounts } = await searchPurchasesAndAccounts(q);
    const usernames = await findUsernames(getPartyIds(purchases));
    return {
      purchases: purchases.map((each) => presentPurchase(each, usernames)),
      accounts: accounts.map(({ account: { username, role } }) => ({ username, role })),
    };
  },
});
