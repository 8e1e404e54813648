import Joi from 'joi';
import { text, timestamp, wholeNumber, nameSchema } from '../../api/contract/fields.js';
import type { Account } from '../../accounts/account.model.js';
import {
  listAccounts as findAccounts,
  describeAccount,
  type AccountDescription,
} from '../../accounts/list-accounts.js';
import {
  defineConsoleOperation,
  priceGroup,
  requiredObject,
  usernameParams,
} from '../api/console-operation.js';
import { languages } from '../../shared/messages.js';
import { redactUrlSecrets } from '../../shared/mask.js';
import { listEndpoints, type ListedEndpoint } from '../../webhooks/endpoints/endpoint-status.js';

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
  data: requiredObject({
    accounts: Joi.array().items(requiredObject(accountFields)),
    next: Joi.string().allow(null).description('Value of `after` for the next page.'),
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

const nullableText = Joi.string().allow(null);
const nullableNumber = Joi.number().allow(null);

const accountData = nameSchema(
  'Account',
  requiredObject({
    ...accountFields,
    require_strong_sign: Joi.boolean(),
    require_ack: Joi.boolean(),
    commission_rate: nullableNumber.description('Null: the default.'),
    rate_limit: Joi.number(),
    rate_limit_max: nullableNumber,
    product_limit: nullableNumber,
    language: Joi.string().valid(...languages),
    group: nullableText.description('Its price group.'),
    ip_whitelist: Joi.array().items(Joi.string()),
    callback_url: nullableText,
    md5_signs_30_days: nullableNumber,
    webhooks: Joi.array().items(
      requiredObject({
        url: Joi.string(),
        events: Joi.array().items(Joi.string()),
        status: Joi.string().valid('enabled', 'failing', 'disabled'),
        since: timestamp.allow(null),
        reason: nullableText,
      }),
    ),
    keys: Joi.array().items(
      requiredObject({ id: Joi.string(), created_at: timestamp, valid_until: timestamp.allow(null) }),
    ),
    changes: Joi.array().items(
      requiredObject({ at: timestamp, actor: Joi.string(), action: Joi.string(), reason: nullableText }),
    ),
  }),
);

export const getAccount = defineConsoleOperation<unknown, { username: string }>({
  id: 'getAccount',
  method: 'get',
  path: '/accounts/:username',
  action: 'account.look',
  summary: 'One account: money, rules, webhooks, ids and dates of its API keys, last changes',
  params: usernameParams,
  data: accountData,
  async handle({ params: { username } }) {
    const found = await describeAccount(username);
    return presentDescription(found, await listEndpoints(found.account));
  },
});

function presentDescription(
  { account, wallet, keys, audit, md5Signs }: AccountDescription,
  endpoints: ListedEndpoint[],
) {
  return {
    ...presentAccount(account, wallet),
    require_strong_sign: account.requireStrongSign,
    require_ack: account.requireAck,
    commission_rate: account.commissionRate,
    rate_limit: account.rateLimit,
    rate_limit_max: account.rateLimitMax ?? null,
    product_limit: account.productLimit ?? null,
    language: account.language ?? 'en',
    group: account.priceGroup ?? null,
    ip_whitelist: account.ipWhitelist,
    callback_url: account.callbackUrl === null ? null : redactUrlSecrets(account.callbackUrl),
    md5_signs_30_days: md5Signs,
    webhooks: endpoints.map(({ endpoint, health }) => ({
      url: redactUrlSecrets(endpoint.url),
      events: endpoint.events,
      status: health.status,
      since: health.since?.toISOString() ?? null,
      reason: health.reason,
    })),
    keys: keys.map(({ _id, createdAt, validUntil }) => ({
      id: _id,
      created_at: createdAt.toISOString(),
      valid_until: validUntil?.toISOString() ?? null,
    })),
    changes: audit.map(({ at, actor, action, reason }) => ({ at: at.toISOString(), actor, action, reason })),
  };
}
