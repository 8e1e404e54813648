import Joi from 'joi';
import type { Role } from '../../accounts/account.model.js';
import { updateEndpoint } from '../../webhooks/change-endpoints.js';
import { findEndpoint } from '../../webhooks/webhook-status.js';
import { buildRoleFields } from '../call-of-role.js';
import { getChangedBy } from '../changed-by.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import {
  toEndpointChange,
  endpointData,
  endpointFields,
  endpointParams,
  presentEndpoint,
  requireValidUrl,
  type EndpointBody,
  type EndpointParams,
} from './endpoint-data.js';

export function updateEndpointFor(role: Role): AnyOperation {
  return defineOperation<EndpointBody, EndpointParams>({
    ...buildRoleFields(role, { name: (who) => `update${who}Endpoint`, path: '/webhooks/:id' }),
    method: 'patch',
    summary: 'Change a webhook endpoint',
    description:
      'What is left out stays as it is. What still waits for the old URL goes to the new one; a change of events holds for ' +
      'what happens from now on.',
    params: endpointParams,
    body: Joi.object<EndpointBody>(endpointFields),
    data: endpointData,
    failures: [404, 409],
    async handle(call) {
      const { id } = call.params;
      await requireValidUrl(call.body);
      const account = await updateEndpoint(call.account._id, id, {
        change: toEndpointChange(call.body),
        by: getChangedBy(call),
      });
      return { data: presentEndpoint(account, await findEndpoint(account, id)) };
    },
  });
}
