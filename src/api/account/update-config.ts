import Joi from 'joi';
import { nameSchema } from '../named.js';
import { limits } from '../../../config/limits.js';
import type { Account, Role } from '../../accounts/account.model.js';
import { isOnAllowlist, normalizeAllowlistEntry } from '../../accounts/ip-allowlist.js';
import { updateConfig } from '../../webhooks/update-config.js';
import { ValidationError, type FieldError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { languages, type Language } from '../../shared/messages.js';
import { getChangedBy } from '../changed-by.js';
import { url } from '../fields.js';
import { findUrlErrors } from '../url-errors.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import { buildRoleFields } from '../call-of-role.js';
import { configData, presentConfig } from './config-data.js';
import { label, toJoiMessages } from '../worded.js';

interface Body {
  webhook_url?: string | null;
  callback_url?: string | null;
  ip_whitelist?: string[];
  rate_limit?: number;
  language?: Language;
}

const allowlistEntry = Joi.string()
  // An IPv6 address that ends in an IPv4 one, and the length of its network.
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
    .description('Of the messages that reseller software gets; all other calls go by Accept-Language.')
    .example('id'),
});

export function updateConfigFor(role: Role): AnyOperation {
  return defineOperation<Body>({
    ...buildRoleFields(role, { name: (who) => `update${who}Config`, path: '/api/config' }),
    method: 'post',
    summary: 'Change the API configuration',
    description:
      'What is left out stays as it is. A new webhook_url is told to the old one (event config.updated). ' +
      'An ip_whitelist without the address that you call from is refused; so is (409) the URL of another webhook endpoint of yours.',
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
