import Joi from 'joi';
import type { Role } from '../../accounts/account.model.js';
import { removeEndpoint } from '../../webhooks/change-endpoints.js';
import { buildRoleFields } from '../call-of-role.js';
import { getChangedBy } from '../changed-by.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import { endpointParams, type EndpointParams } from './endpoint-data.js';

export function removeEndpointFor(role: Role): AnyOperation {
  return defineOperation<unknown, EndpointParams>({
    ...buildRoleFields(role, { name: (who) => `remove${who}Endpoint`, path: '/webhooks/:id' }),
    method: 'delete',
    summary: 'Remove a webhook endpoint',
    description:
      'What still waits for it is dropped. Removing default is setting webhook_url to null: what waits for that is held.',
    params: endpointParams,
    data: Joi.object({ id: Joi.string().required() }),
    failures: [404],
    async handle(call) {
      const { id } = call.params;
      await removeEndpoint(call.account._id, id, getChangedBy(call));
      return { data: { id } };
    },
  });
}
