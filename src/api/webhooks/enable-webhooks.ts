import Joi from 'joi';
import type { Role } from '../../accounts/account.model.js';
import { enableWebhooks } from '../../webhooks/webhook-status.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import { tagOf } from '../role-words.js';

export function enableWebhooksFor(role: Role): AnyOperation {
  return defineOperation({
    id: `enable${tagOf(role)}Webhooks`,
    method: 'post',
    path: `/api/${role}/webhooks/enable`,
    role,
    tag: tagOf(role),
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
