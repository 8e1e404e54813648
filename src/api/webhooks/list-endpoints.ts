import Joi from 'joi';
import type { Role } from '../../accounts/account.model.js';
import { listEndpoints } from '../../webhooks/webhook-status.js';
import { buildRoleFields } from '../call-of-role.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import { endpointData, presentEndpoint } from './endpoint-data.js';

export function listEndpointsFor(role: Role): AnyOperation {
  return defineOperation({
    ...buildRoleFields(role, { name: (who) => `list${who}Endpoints`, path: '/webhooks' }),
    method: 'get',
    summary: 'Webhook endpoints, each with its secret and whether it works',
    data: Joi.array().items(endpointData),
    async handle({ account }) {
      const found = await listEndpoints(account);
      return { data: found.map((each) => presentEndpoint(account, each)) };
    },
  });
}
