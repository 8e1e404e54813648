import Joi from 'joi';
import type { Role } from '../../accounts/account.model.js';
import { enableWebhooks } from '../../webhooks/webhook-status.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import { callOfRole } from '../call-of-role.js';

export function enableWebhooksFor(role: Role): AnyOperation {
  return defineOperation({
    ...callOfRole(role, { name: (who) => `enable${who}Webhooks`, path: '/webhooks/enable' }),
    method: 'post',
    summary: 'Switch disabled URLs on again',
    description: 'New events go out from now on. What was held meanwhile is sent by POST …/webhooks/replay.',
    data: Joi.object({
      webhook_status: Joi.string().valid('enabled').required(),
      held: Joi.number().required().description('Deliveries that wait to be replayed.'),
    }),
    async handle({ account }) {
      const { held } = await enableWebhooks(account);
      return { data: { webhook_status: 'enabled', held } };
    },
  });
}
