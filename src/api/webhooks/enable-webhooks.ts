import Joi from 'joi';
import type { Role } from '../../accounts/account.model.js';
import { enableWebhooks } from '../../webhooks/webhook-status.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import { endpointParams, type EndpointParams } from './endpoint-data.js';
import { buildRoleFields } from '../call-of-role.js';

const held = Joi.number().required().description('Deliveries that wait to be replayed.');

export function enableWebhooksFor(role: Role): AnyOperation {
  return defineOperation({
    ...buildRoleFields(role, { name: (who) => `enable${who}Webhooks`, path: '/webhooks/enable' }),
    method: 'post',
    summary: 'Switch disabled URLs on again',
    description: 'New events go out from now on. What was held meanwhile is sent by POST …/webhooks/replay.',
    data: Joi.object({ webhook_status: Joi.string().valid('enabled').required(), held }),
    async handle({ account }) {
      const enabled = await enableWebhooks(account);
      return { data: { webhook_status: 'enabled', held: enabled.held } };
    },
  });
}

export function enableEndpointFor(role: Role): AnyOperation {
  return defineOperation<unknown, EndpointParams>({
    ...buildRoleFields(role, { name: (who) => `enable${who}Endpoint`, path: '/webhooks/:id/enable' }),
    method: 'post',
    summary: 'Switch a disabled endpoint on again',
    description:
      'New events go out from now on. What was held meanwhile is sent by POST …/webhooks/replay with its endpoint_id.',
    params: endpointParams,
    data: Joi.object({ id: Joi.string().required(), status: Joi.string().valid('enabled').required(), held }),
    failures: [404],
    async handle({ account, params: { id } }) {
      const enabled = await enableWebhooks(account, id);
      return { data: { id, status: 'enabled', held: enabled.held } };
    },
  });
}
