import Joi from 'joi';
import type { Role } from '../../accounts/account.model.js';
import { openWebhookSecret } from '../../webhooks/webhook-secret.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import { buildRoleFields } from '../call-of-role.js';
import { configData, presentConfig } from './config-data.js';

export function getConfigFor(role: Role): AnyOperation {
  return defineOperation({
    ...buildRoleFields(role, { name: (who) => `get${who}Config`, path: '/api/config' }),
    method: 'get',
    summary: 'API configuration',
    data: Joi.object({
      ...configData,
      webhook_secret: Joi.string().required().description('Verify x-signature with it.'),
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
