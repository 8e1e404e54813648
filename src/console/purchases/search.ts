import Joi from 'joi';
import { text } from '../../api/fields.js';
import { findUsernames } from '../../accounts/usernames-of.js';
import { getPartyIds } from '../../purchases/parties-of.js';
import { searchPurchasesAndAccounts, searchLength } from '../../purchases/search.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';
import { presentPurchase, purchaseData } from './present-purchase.js';

export const searchCall = defineConsoleOperation<unknown, unknown, { q: string }>({
  id: 'search',
  method: 'get',
  path: '/search',
  action: 'purchase.look',
  summary: 'Purchases by id, ref_id, customer number or serial number, and accounts by how they begin',
  query: Joi.object<{ q: string }>({ q: text(searchLength.max).min(searchLength.min).required() }),
  data: shape({
    purchases: Joi.array().items(purchaseData),
    accounts: Joi.array().items(
      shape({ username: Joi.string(), role: Joi.string().valid('buyer', 'seller') }),
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
