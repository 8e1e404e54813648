/** Operations that read and change the API configuration (docs/reference/api/configuration.md). */
import Joi from 'joi';
import type { Account, Role } from '../../accounts/account.model.js';
import { getDecryptedApiKey } from '../../accounts/api-key.js';
import { getRateLimit } from '../../accounts/effective-settings.js';
import { languages, type Language } from '../../shared/messages.js';
import { getWebhookStatus } from '../../webhooks/endpoints/endpoint-status.js';
import { openWebhookSecret } from '../../webhooks/deliver/sign-delivery.js';
import { defineOperation, type AnyOperation, buildRoleFields, getChangedBy } from '../contract/operation.js';
import { nameSchema, url, findUrlErrors } from '../contract/fields.js';
import { limits } from '../../../config/limits.js';
import { isOnAllowlist, normalizeAllowlistEntry } from '../../accounts/ip-allowlist.js';
import { updateConfig } from '../../accounts/changes/update-config.js';
import { ValidationError, type FieldError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { label, toJoiMessages } from '../language/joi-messages.js';

/**
 * Returns the configuration as both GET and POST show it.
 * @param keyId Id of the caller's key. The response contains no other key.
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
    .description('The name of your account. Reseller software sends it with each call.')
    .example('buyer'),
  api_key: Joi.string().required().description('The current API key, which this call was made with.'),
  webhook_url: nullableUrl.description('Receives the events of every transaction.'),
  callback_url: nullableUrl.description('Receives the callback of the surface that a purchase was made on.'),
  ip_whitelist: Joi.array().items(Joi.string()).required().description('Empty: every address is allowed.'),
  // No maximum: the stored limit may be higher than an account may choose.
  rate_limit: Joi.number().integer().min(1).required().description('Calls per minute over all surfaces.'),
  language: Joi.string()
    .valid(...languages)
    .required()
    .description('Language of messages on the reseller surface. All other calls use Accept-Language.'),
  webhook_status: Joi.string()
    .valid('enabled', 'failing', 'disabled')
    .required()
    .description(
      'failing: no success for a day. disabled: nothing is sent until you enable it or set another URL.',
    ),
};

export function getConfigFor(role: Role): AnyOperation {
  return defineOperation({
    ...buildRoleFields(role, { name: (who) => `get${who}Config`, path: '/api/config' }),
    method: 'get',
    summary: 'API configuration',
    data: Joi.object({
      ...configData,
      webhook_secret: Joi.string().required().description('The secret that verifies x-signature.'),
      ...(role === 'buyer' && { is_active: Joi.boolean().required() }),
    }),
    async handle({ account, keyId }) {
      return {
        data: {
          ...(await presentConfig(account, keyId)),
          webhook_secret: openWebhookSecret(account._id, account.webhookSecretSealed),
          ...(role === 'buyer' && { is_active: account.status === 'active' }),
        },
      };
    },
  });
}

interface Body {
  webhook_url?: string | null;
  callback_url?: string | null;
  ip_whitelist?: string[];
  rate_limit?: number;
  language?: Language;
}

const allowlistEntry = Joi.string()
  // The longest form is an IPv6 address with an embedded IPv4 address and a prefix length.
  .max(49)
  .custom((value: string, helpers) =>
    normalizeAllowlistEntry(value) === null ? helpers.error('any.invalid') : value,
  );

const body = Joi.object<Body>({
  webhook_url: url.allow(null),
  callback_url: url.allow(null),
  ip_whitelist: Joi.array()
    .items(allowlistEntry)
    .max(limits.allowlistEntriesMax)
    .messages(toJoiMessages({ 'any.invalid': say('allowlistEntryForm', label) }))
    .example(['203.0.113.7', '2001:db8::/32']),
  rate_limit: Joi.number().integer().min(1).max(limits.rateLimitMax).example(limits.rateLimitDefault),
  language: Joi.string()
    .valid(...languages)
    .description('Language of messages on the reseller surface. All other calls use Accept-Language.')
    .example('id'),
});

export function updateConfigFor(role: Role): AnyOperation {
  return defineOperation<Body>({
    ...buildRoleFields(role, { name: (who) => `update${who}Config`, path: '/api/config' }),
    method: 'post',
    summary: 'Change the API configuration',
    description:
      'Omitted fields stay unchanged. If webhook_url changes, the old URL receives config.updated. ' +
      'An ip_whitelist without the address that you call from is refused (400). The URL of another of your webhook endpoints is refused (409).',
    body,
    data: nameSchema('Configuration', Joi.object(configData)),
    failures: [409],
    async handle(call) {
      const ipWhitelist = call.body.ip_whitelist && normalizeAllowlist(call.body.ip_whitelist);
      throwIfErrors([
        ...(await findUrlErrors({
          webhook_url: call.body.webhook_url,
          callback_url: call.body.callback_url,
        })),
        ...findLockOutErrors(ipWhitelist, call.address),
        ...findRateLimitErrors(call.account, call.body.rate_limit),
      ]);
      const account = await updateConfig(
        call.account._id,
        {
          ...(call.body.webhook_url !== undefined && { webhookUrl: call.body.webhook_url }),
          ...(call.body.callback_url !== undefined && { callbackUrl: call.body.callback_url }),
          ...(ipWhitelist && { ipWhitelist }),
          ...(call.body.rate_limit !== undefined && { rateLimit: call.body.rate_limit }),
          ...(call.body.language !== undefined && { language: call.body.language }),
        },
        getChangedBy(call),
      );
      return { message: say('configUpdated'), data: await presentConfig(account, call.keyId) };
    },
  });
}

function normalizeAllowlist(entries: string[]): string[] {
  return [...new Set(entries.flatMap((entry) => normalizeAllowlistEntry(entry) ?? []))];
}

function findLockOutErrors(ipWhitelist: string[] | undefined, address: string): FieldError[] {
  return ipWhitelist && !isOnAllowlist(ipWhitelist, address)
    ? [
        {
          field: 'ip_whitelist',
          message: say('wouldLockOut', { address }),
        },
      ]
    : [];
}

function findRateLimitErrors({ rateLimitMax }: Account, wanted: number | undefined): FieldError[] {
  return wanted !== undefined && wanted > (rateLimitMax ?? Infinity)
    ? [
        {
          field: 'rate_limit',
          reason: 'too_large',
          message: say('rateLimitAtMost', { max: rateLimitMax ?? '' }),
        },
      ]
    : [];
}

function throwIfErrors(errors: FieldError[]): void {
  if (errors.length > 0) {
    throw new ValidationError(errors);
  }
}
