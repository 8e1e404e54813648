import Joi from 'joi';
import { timestamp } from '../../api/fields.js';
import { describeAccount, type AccountDescription } from '../../accounts/describe-account.js';
import { languages } from '../../shared/messages.js';
import { redactUrlSecrets } from '../../shared/mask.js';
import { listEndpoints, type ListedEndpoint } from '../../webhooks/webhook-status.js';
import { defineConsoleOperation, shape, usernameParams } from '../api/console-operation.js';
import { accountFields, presentAccount } from './list-accounts.js';

const nullableText = Joi.string().allow(null);
const nullableNumber = Joi.number().allow(null);

const accountData = shape({
  ...accountFields,
  require_strong_sign: Joi.boolean(),
  require_ack: Joi.boolean(),
  commission_rate: nullableNumber.description('Null: the standard.'),
  rate_limit: Joi.number(),
  rate_limit_max: nullableNumber,
  product_limit: nullableNumber,
  language: Joi.string().valid(...languages),
  group: nullableText.description('Its price group.'),
  ip_whitelist: Joi.array().items(Joi.string()),
  callback_url: nullableText,
  md5_signs_30_days: nullableNumber,
  webhooks: Joi.array().items(
    shape({
      url: Joi.string(),
      events: Joi.array().items(Joi.string()),
      status: Joi.string().valid('enabled', 'failing', 'disabled'),
      since: timestamp.allow(null),
      reason: nullableText,
    }),
  ),
  keys: Joi.array().items(
    shape({ id: Joi.string(), created_at: timestamp, valid_until: timestamp.allow(null) }),
  ),
  changes: Joi.array().items(
    shape({ at: timestamp, actor: Joi.string(), action: Joi.string(), reason: nullableText }),
  ),
});

export const getAccount = defineConsoleOperation<unknown, { username: string }>({
  id: 'getAccount',
  method: 'get',
  path: '/accounts/:username',
  action: 'account.look',
  summary: 'One account: money, rules, webhooks, keys without the keys, last changes',
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
