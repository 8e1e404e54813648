import Joi from 'joi';
import type { Role } from '../../accounts/account.model.js';
import { listEndpoints, findEndpoint, enableWebhooks } from '../../webhooks/endpoints/endpoint-status.js';
import { buildRoleFields, defineOperation, type AnyOperation, getChangedBy } from '../contract/operation.js';
import {
  endpointData,
  presentEndpoint,
  endpointParams,
  type EndpointParams,
  endpointFields,
  toNewEndpoint,
  requireValidUrl,
  type EndpointBody,
  toEndpointChange,
} from './endpoint-data.js';
import { limits } from '../../../config/limits.js';
import { createEndpoint, updateEndpoint, removeEndpoint } from '../../accounts/changes/change-endpoints.js';

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
