import Joi from 'joi';
import { text } from '../../api/fields.js';
import { listAccounts } from '../../accounts/list-accounts.js';
import { usernamesOf } from '../../accounts/usernames-of.js';
import { searchPurchases } from '../../purchases/search-purchases.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';
import { idsIn, presentPurchase, purchaseData } from './present-purchase.js';

const accountsMax = 5;

export const search = defineConsoleOperation<unknown, unknown, { q: string }>({
  id: 'search',
  method: 'get',
  path: '/search',
  action: 'purchase.look',
  summary: 'Purchases by id, ref_id, customer number or serial number, and accounts by how they begin',
  query: Joi.object<{ q: string }>({ q: text(100).min(2).required() }),
  data: shape({
    purchases: Joi.array().items(purchaseData),
    accounts: Joi.array().items(
      shape({ username: Joi.string(), role: Joi.string().valid('buyer', 'seller') }),
    ),
  }),
  async handle({ query: { q } }) {
    const wanted = q.trim();
    const [purchases, accounts] = await Promise.all([
      searchPurchases(wanted),
      listAccounts({ prefix: wanted.toLowerCase(), limit: accountsMax }),
    ]);
    const usernames = await usernamesOf(idsIn(purchases));
    return {
      purchases: purchases.map((each) => presentPurchase(each, usernames)),
      accounts: accounts.map(({ account: { username, role } }) => ({ username, role })),
    };
  },
});
