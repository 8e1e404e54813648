/** The API configuration (docs/reference/api/configuration.md): domain to wire, and the schema of that. */
import Joi from 'joi';
import type { Account } from '../../accounts/account.model.js';
import { getDecryptedApiKey } from '../../accounts/api-key-in-clear.js';
import { getRateLimit } from '../../accounts/rate-limit-of.js';
import { languages } from '../../shared/messages.js';
import { getWebhookStatus } from '../../webhooks/webhook-status.js';

/**
 * @param keyId The key that the call came with: the only one that its caller sees, however many there are.
 * @returns What both GET and POST show.
 */
export async function presentConfig(account: Account, keyId: string) {
  const [apiKey, webhookStatus] = await Promise.all([
    getDecryptedApiKey(account._id, keyId),
    getWebhookStatus(account),
  ]);
  return {
    username: account.username,
    api_key: apiKey,
    webhook_url: account.webhookUrl,
    callback_url: account.callbackUrl,
    ip_whitelist: account.ipWhitelist,
    rate_limit: getRateLimit(account),
    language: account.language ?? 'en',
    webhook_status: webhookStatus,
  };
}

const nullableUrl = Joi.string().allow(null).required();

export const configData = {
  username: Joi.string()
    .required()
    .description('The name of your account; reseller software sends it.')
    .example('buyer'),
  api_key: Joi.string().required().description('The current key, which is the one that you call with.'),
  webhook_url: nullableUrl.description('Gets the events of every transaction.'),
  callback_url: nullableUrl.description("Gets each surface's own callback."),
  ip_whitelist: Joi.array().items(Joi.string()).required().description('Empty: any address.'),
  // Without the most that an account may choose: what it was given in the database may be more.
  rate_limit: Joi.number()
    .integer()
    .min(1)
    .required()
    .description('Calls in a minute, all surfaces together.'),
  language: Joi.string()
    .valid(...languages)
    .required()
    .description('Of the messages on the reseller surface; all other calls go by Accept-Language.'),
  webhook_status: Joi.string()
    .valid('enabled', 'failing', 'disabled')
    .required()
    .description(
      'failing: no success for a day. disabled: nothing is sent until you enable it or set another URL.',
    ),
};
