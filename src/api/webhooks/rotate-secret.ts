import Joi from 'joi';
import type { Role } from '../../accounts/account.model.js';
import { rotateWebhookSecret } from '../../webhooks/rotate-webhook-secret.js';
import { timestamp } from '../fields.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import { tagOf } from '../role-words.js';

export function rotateSecretFor(role: Role): AnyOperation {
  return defineOperation({
    id: `rotate${tagOf(role)}WebhookSecret`,
    method: 'post',
    path: `/api/${role}/api/webhook-secret/rotate`,
    role,
    tag: tagOf(role),
    summary: 'Replace the webhook secret',
    description:
      'For 24 h requests are signed with the new and the old one, each signature header holding two values.',
    data: Joi.object({
      webhook_secret: Joi.string().required(),
      previous_valid_until: timestamp.required(),
    }),
    failures: [409],
    async handle({ account }) {
      const { secret, previousValidUntil } = await rotateWebhookSecret(account._id);
      return { data: { webhook_secret: secret, previous_valid_until: previousValidUntil.toISOString() } };
    },
  });
}
