import Joi from 'joi';
import type { Role } from '../../accounts/account.model.js';
import { rotateWebhookSecret } from '../../webhooks/rotate-webhook-secret.js';
import { timestamp } from '../fields.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import { callOfRole } from '../call-of-role.js';

export function rotateSecretFor(role: Role): AnyOperation {
  return defineOperation({
    ...callOfRole(role, { name: (who) => `rotate${who}WebhookSecret`, path: '/api/webhook-secret/rotate' }),
    method: 'post',
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
