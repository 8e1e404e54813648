import type { Role } from '../../accounts/account.model.js';
import { findEndpoint } from '../../webhooks/webhook-status.js';
import { buildRoleFields } from '../call-of-role.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import { endpointData, endpointParams, presentEndpoint, type EndpointParams } from './endpoint-data.js';

export function getEndpointFor(role: Role): AnyOperation {
  return defineOperation<unknown, EndpointParams>({
    ...buildRoleFields(role, { name: (who) => `get${who}Endpoint`, path: '/webhooks/:id' }),
    method: 'get',
    summary: 'A webhook endpoint',
    params: endpointParams,
    data: endpointData,
    failures: [404],
    async handle({ account, params }) {
      return { data: presentEndpoint(account, await findEndpoint(account, params.id)) };
    },
  });
}
