import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import type { Role } from '../../accounts/account.model.js';
import { createEndpoint } from '../../webhooks/change-endpoints.js';
import { findEndpoint } from '../../webhooks/webhook-status.js';
import { buildRoleFields } from '../call-of-role.js';
import { getChangedBy } from '../changed-by.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import {
  endpointData,
  endpointFields,
  toNewEndpoint,
  presentEndpoint,
  requireValidUrl,
  type EndpointBody,
} from './endpoint-data.js';

type Body = EndpointBody & { url: string };

export function createEndpointFor(role: Role): AnyOperation {
  return defineOperation<Body>({
    ...buildRoleFields(role, { name: (who) => `create${who}Endpoint`, path: '/webhooks' }),
    method: 'post',
    summary: 'Make a webhook endpoint',
    description:
      `An account has at most ${limits.webhookEndpointsMax}. The first is the webhook_url of api/config, with the id ` +
      'default and the secret of the account; each other has a secret of its own.',
    body: Joi.object<Body>({ ...endpointFields, url: endpointFields.url.required() }),
    data: endpointData,
    successStatuses: [201],
    failures: [409],
    async handle(call) {
      await requireValidUrl(call.body);
      const { account, id } = await createEndpoint(
        call.account._id,
        toNewEndpoint(call.body),
        getChangedBy(call),
      );
      return { httpStatus: 201, data: presentEndpoint(account, await findEndpoint(account, id)) };
    },
  });
}
