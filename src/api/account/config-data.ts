/** The API configuration (docs/interface.md#api-configuration): domain to wire, and the schema of that. */
import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import type { Account } from '../../accounts/account.model.js';
import { currentApiKey } from '../../accounts/rotate-api-key.js';
import { webhookStatusOf } from '../../webhooks/webhook-status.js';

/** @returns What both GET and POST show. */
export async function presentConfig(account: Account) {
  const [apiKey, webhookStatus] = await Promise.all([currentApiKey(account._id), webhookStatusOf(account)]);
  return {
    api_key: apiKey,
    webhook_url: account.webhookUrl,
    callback_url: account.callbackUrl,
    ip_whitelist: account.ipWhitelist,
    rate_limit: account.rateLimit,
    webhook_status: webhookStatus,
  };
}

const nullableUrl = Joi.string().allow(null).required();

export const configData = {
  api_key: Joi.string().required().description('The current key, also while an older one overlaps.'),
  webhook_url: nullableUrl.description('Gets the events of every transaction.'),
  callback_url: nullableUrl.description("Gets each surface's own callback."),
  ip_whitelist: Joi.array().items(Joi.string()).required().description('Empty: any address.'),
  rate_limit: Joi.number()
    .integer()
    .min(1)
    .max(limits.rateLimitMax)
    .required()
    .description('Calls in a minute, all surfaces together.'),
  webhook_status: Joi.string()
    .valid('enabled', 'failing', 'disabled')
    .required()
    .description(
      'failing: no success for a day. disabled: nothing is sent until you enable it or set another URL.',
    ),
};
