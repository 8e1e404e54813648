import Joi from 'joi';
import { text, timestamp, wholeNumber } from '../../api/fields.js';
import type { Account } from '../../accounts/account.model.js';
import { listAccounts as findAccounts } from '../../accounts/list-accounts.js';
import { defineConsoleOperation, priceGroup, shape } from '../api/console-operation.js';

interface Query {
  prefix?: string;
  group?: string;
  after?: string;
  limit: number;
}

export const accountFields = {
  username: Joi.string(),
  id: Joi.string(),
  role: Joi.string().valid('buyer', 'seller'),
  status: Joi.string().valid('active', 'suspended'),
  mode: Joi.string().valid('live', 'test'),
  balance: Joi.number(),
  held: Joi.number(),
  created_at: timestamp,
};

export function presentAccount(
  { _id, username, role, status, mode, createdAt }: Account,
  { balance, held }: { balance: number; held: number },
) {
  return { username, id: _id, role, status, mode, balance, held, created_at: createdAt.toISOString() };
}

export const listAccounts = defineConsoleOperation<unknown, unknown, Query>({
  id: 'listAccounts',
  method: 'get',
  path: '/accounts',
  action: 'account.look',
  summary: 'Accounts with their balances by username, a page at a time',
  query: Joi.object<Query>({
    prefix: text(64),
    group: priceGroup,
    after: text(64),
    limit: wholeNumber({ max: 100, standard: 50 }),
  }),
  data: shape({
    accounts: Joi.array().items(shape(accountFields)),
    next: Joi.string().allow(null).description('The `after` of the next page.'),
  }),
  async handle({ query: { prefix, group, after, limit } }) {
    const found = await findAccounts({
      ...(prefix !== undefined && { prefix: prefix.toLowerCase() }),
      ...(group !== undefined && { priceGroup: group }),
      ...(after !== undefined && { after }),
      limit: limit + 1,
    });
    const shown = found.slice(0, limit);
    return {
      accounts: shown.map(({ account, balance, held }) => presentAccount(account, { balance, held })),
      next: found.length > limit ? (shown.at(-1)?.account.username ?? null) : null,
    };
  },
});
