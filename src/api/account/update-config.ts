import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import type { Role } from '../../accounts/account.model.js';
import { isOnAllowlist, normalizeAllowlistEntry } from '../../accounts/ip-allowlist.js';
import { updateConfig } from '../../webhooks/update-config.js';
import { ValidationError, type FieldError } from '../../shared/errors.js';
import { urlGuard } from '../../webhooks/url-guard.js';
import { changedBy } from '../changed-by.js';
import { url } from '../fields.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import { callOfRole } from '../call-of-role.js';
import { configData, presentConfig } from './config-data.js';

interface Body {
  webhook_url?: string | null;
  callback_url?: string | null;
  ip_whitelist?: string[];
  rate_limit?: number;
}

const allowlistEntry = Joi.string().custom((value: string, helpers) =>
  normalizeAllowlistEntry(value) === null ? helpers.error('any.invalid') : value,
);

const body = Joi.object<Body>({
  webhook_url: url.allow(null),
  callback_url: url.allow(null),
  ip_whitelist: Joi.array()
    .items(allowlistEntry)
    .max(limits.allowlistEntriesMax)
    .messages({
      'any.invalid': '{{#label}} must be an IPv4 or IPv6 address, or a network such as 203.0.113.0/24',
    })
    .example(['203.0.113.7', '2001:db8::/32']),
  rate_limit: Joi.number().integer().min(1).max(limits.rateLimitMax).example(limits.rateLimitDefault),
});

export function updateConfigFor(role: Role): AnyOperation {
  return defineOperation<Body>({
    ...callOfRole(role, { name: (who) => `update${who}Config`, path: '/api/config' }),
    method: 'post',
    summary: 'Change the API configuration',
    description:
      'What is left out stays as it is. A new webhook_url is told to the old one (event config.updated). ' +
      'An ip_whitelist without the address that you call from is refused.',
    body,
    data: Joi.object(configData),
    async handle(call) {
      const ipWhitelist = call.body.ip_whitelist && normalized(call.body.ip_whitelist);
      refuse([...(await urlErrors(call.body)), ...lockOutErrors(ipWhitelist, call.address)]);
      const account = await updateConfig(
        call.account._id,
        {
          ...(call.body.webhook_url !== undefined && { webhookUrl: call.body.webhook_url }),
          ...(call.body.callback_url !== undefined && { callbackUrl: call.body.callback_url }),
          ...(ipWhitelist && { ipWhitelist }),
          ...(call.body.rate_limit !== undefined && { rateLimit: call.body.rate_limit }),
        },
        changedBy(call),
      );
      return { message: 'Configuration updated', data: await presentConfig(account) };
    },
  });
}

function normalized(entries: string[]): string[] {
  return [...new Set(entries.flatMap((entry) => normalizeAllowlistEntry(entry) ?? []))];
}

async function urlErrors(given: Body): Promise<FieldError[]> {
  const found = await Promise.all(
    (['webhook_url', 'callback_url'] as const).map(async (field) => {
      const value = given[field];
      const problem = typeof value === 'string' ? await urlGuard.problemWhenSaved(value) : null;
      return problem === null ? [] : [{ field, message: `${field} ${problem}` }];
    }),
  );
  return found.flat();
}

function lockOutErrors(ipWhitelist: string[] | undefined, address: string): FieldError[] {
  return ipWhitelist && !isOnAllowlist(ipWhitelist, address)
    ? [
        {
          field: 'ip_whitelist',
          message: `ip_whitelist must have the address that you call from, ${address}: it would lock you out`,
        },
      ]
    : [];
}

function refuse(errors: FieldError[]): void {
  if (errors.length > 0) {
    throw new ValidationError(errors);
  }
}
