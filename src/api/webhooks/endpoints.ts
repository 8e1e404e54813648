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
    summary: 'Webhook endpoints with their secrets and status',
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
    summary: 'Create a webhook endpoint',
    description:
      `An account has at most ${limits.webhookEndpointsMax} endpoints. The first is the webhook_url of api/config. ` +
      'It has the id default and uses the secret of the account. Every other endpoint has its own secret.',
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
      'Omitted fields stay unchanged. Waiting deliveries go to the new URL. A change of events applies to later ' +
      'events only.',
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
      'Its waiting deliveries are dropped. To remove default is to set webhook_url to null: its waiting deliveries are held.',
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

const held = Joi.number().required().description('Deliveries on hold, which POST …/webhooks/replay sends.');

export function enableWebhooksFor(role: Role): AnyOperation {
  return defineOperation({
    ...buildRoleFields(role, { name: (who) => `enable${who}Webhooks`, path: '/webhooks/enable' }),
    method: 'post',
    summary: 'Enable disabled URLs',
    description: 'New events are sent from now on. POST …/webhooks/replay sends the held deliveries.',
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
    summary: 'Enable a disabled endpoint',
    description:
      'New events are sent from now on. POST …/webhooks/replay with its endpoint_id sends the held deliveries.',
    params: endpointParams,
    data: Joi.object({ id: Joi.string().required(), status: Joi.string().valid('enabled').required(), held }),
    failures: [404],
    async handle({ account, params: { id } }) {
      const enabled = await enableWebhooks(account, id);
      return { data: { id, status: 'enabled', held: enabled.held } };
    },
  });
}
