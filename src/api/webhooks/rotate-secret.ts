import Joi from 'joi';
import type { Role } from '../../accounts/account.model.js';
import { rotateWebhookSecret } from '../../accounts/changes/change-endpoints.js';
import { timestamp } from '../contract/fields.js';
import { defineOperation, type AnyOperation, getChangedBy, buildRoleFields } from '../contract/operation.js';
import { endpointParams, type EndpointParams } from './endpoint-data.js';

const description =
  'For 24 h, requests are signed with both secrets, and each signature header has two values.';

export function rotateSecretFor(role: Role): AnyOperation {
  return defineOperation({
    ...buildRoleFields(role, {
      name: (who) => `rotate${who}WebhookSecret`,
      path: '/api/webhook-secret/rotate',
    }),
    method: 'post',
    summary: 'Replace the webhook secret',
    description,
    data: Joi.object({
      webhook_secret: Joi.string().required(),
      previous_valid_until: timestamp.required(),
    }),
    failures: [409],
    async handle(call) {
      const { secret, previousValidUntil } = await rotateWebhookSecret(
        call.account._id,
        null,
        getChangedBy(call),
      );
      return { data: { webhook_secret: secret, previous_valid_until: previousValidUntil.toISOString() } };
    },
  });
}

export function rotateEndpointSecretFor(role: Role): AnyOperation {
  return defineOperation<unknown, EndpointParams>({
    ...buildRoleFields(role, {
      name: (who) => `rotate${who}EndpointSecret`,
      path: '/webhooks/:id/secret/rotate',
    }),
    method: 'post',
    summary: 'Replace the secret of a webhook endpoint',
    description: `${description} The secret of default is the account's webhook secret.`,
    params: endpointParams,
    data: Joi.object({
      id: Joi.string().required(),
      secret: Joi.string().required(),
      previous_valid_until: timestamp.required(),
    }),
    failures: [404, 409],
    async handle(call) {
      const { id } = call.params;
      const { secret, previousValidUntil } = await rotateWebhookSecret(
        call.account._id,
        id,
        getChangedBy(call),
      );
      return { data: { id, secret, previous_valid_until: previousValidUntil.toISOString() } };
    },
  });
}
