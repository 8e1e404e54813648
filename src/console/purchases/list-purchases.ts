import Joi from 'joi';
import { isoDay, productCode, text, timestamp, wholeNumber } from '../../api/fields.js';
import { requireAccount } from '../../accounts/require-account.js';
import { usernamesOf } from '../../accounts/usernames-of.js';
import { pageOfPurchases } from '../../purchases/page-of-purchases.js';
import type { PurchaseStatus } from '../../purchases/purchase.model.js';
import { periodOfDays } from '../../shared/business-time.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';
import { idsIn, presentPurchase, purchaseData, purchaseStatuses } from './present-purchase.js';

interface Query {
  account?: string;
  seller?: string;
  status?: PurchaseStatus;
  product?: string;
  from?: string;
  to?: string;
  after?: string;
  limit: number;
}

const day = isoDay.length('YYYY-MM-DD'.length);

export const listPurchases = defineConsoleOperation<unknown, unknown, Query>({
  id: 'listPurchases',
  method: 'get',
  path: '/purchases',
  action: 'purchase.look',
  summary: 'Purchases that fit a filter, newest first, a page at a time',
  query: Joi.object<Query>({
    account: text(64),
    seller: text(64),
    status: Joi.string().valid(...purchaseStatuses),
    product: productCode,
    from: day,
    to: day,
    after: text(100),
    limit: wholeNumber({ max: 100, standard: 50 }),
  }),
  data: shape({
    purchases: Joi.array().items(purchaseData),
    next: Joi.string().allow(null),
    looked_back_to: timestamp.allow(null),
  }),
  async handle({ query: { account, seller, status, product, from, to, after, limit } }) {
    const [buyer, provider] = await Promise.all([
      account === undefined ? undefined : requireAccount(account),
      seller === undefined ? undefined : requireAccount(seller),
    ]);
    const page = await pageOfPurchases(
      {
        accountId: buyer?._id,
        sellerId: provider?._id,
        status,
        productCode: product,
        ...periodOfDays({ from, to }),
      },
      { after, limit },
    );
    const usernames = await usernamesOf(idsIn(page.purchases));
    return {
      purchases: page.purchases.map((each) => presentPurchase(each, usernames)),
      next: page.next,
      looked_back_to: page.lookedBackTo?.toISOString() ?? null,
    };
  },
});
