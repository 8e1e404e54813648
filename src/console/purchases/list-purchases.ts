import Joi from 'joi';
import { text, timestamp, wholeNumber } from '../../api/fields.js';
import { findUsernames } from '../../accounts/usernames-of.js';
import { getPartyIds } from '../../purchases/parties-of.js';
import { findPurchasePage } from '../../purchases/page-of-purchases.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';
import { presentPurchase, purchaseData } from './present-purchase.js';
import { purchaseFilterFields, purchaseFilterOf, type PurchaseFilterQuery } from './purchase-filter.js';

interface Query extends PurchaseFilterQuery {
  after?: string;
  limit: number;
}

export const listPurchases = defineConsoleOperation<unknown, unknown, Query>({
  id: 'listPurchases',
  method: 'get',
  path: '/purchases',
  action: 'purchase.look',
  summary: 'Purchases that fit a filter, newest first, a page at a time',
  query: Joi.object<Query>({
    ...purchaseFilterFields,
    after: text(100),
    limit: wholeNumber({ max: 100, standard: 50 }),
  }),
  data: shape({
    purchases: Joi.array().items(purchaseData),
    next: Joi.string().allow(null),
    looked_back_to: timestamp.allow(null),
  }),
  async handle({ query: { after, limit, ...query } }) {
    const page = await findPurchasePage(await purchaseFilterOf(query), { after, limit });
    const usernames = await findUsernames(getPartyIds(page.purchases));
    return {
      purchases: page.purchases.map((each) => presentPurchase(each, usernames)),
      next: page.next,
      looked_back_to: page.lookedBackTo?.toISOString() ?? null,
    };
  },
});
