import Joi from 'joi';
import type { Role } from '../../accounts/account.model.js';
import { sendPing } from '../../webhooks/send-ping.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import { attemptData, presentAttempt } from './delivery-data.js';
import { endpointParams, type EndpointParams } from './endpoint-data.js';
import { callOfRole } from '../call-of-role.js';

const description = 'The request is signed like every other. It is not repeated.';
const data = Joi.object({
  id: Joi.string().required(),
  delivered: Joi.boolean().required(),
  attempt: attemptData.required(),
});

export function testWebhookFor(role: Role): AnyOperation {
  return defineOperation({
    ...callOfRole(role, { name: (who) => `test${who}Webhook`, path: '/webhooks/test' }),
    method: 'post',
    needs: 'trade',
    summary: 'Send a ping to the webhook URL now and return what it said',
    ...{ description, data },
    failures: [409],
    handle: async ({ account }) => ({ data: present(await sendPing(account)) }),
  });
}

export function testEndpointFor(role: Role): AnyOperation {
  return defineOperation<unknown, EndpointParams>({
    ...callOfRole(role, { name: (who) => `test${who}Endpoint`, path: '/webhooks/:id/test' }),
    method: 'post',
    needs: 'trade',
    summary: 'Send a ping to a webhook endpoint now and return what it said',
    ...{ description, data },
    params: endpointParams,
    failures: [404],
    handle: async ({ account, params }) => ({ data: present(await sendPing(account, params.id)) }),
  });
}

function present({ id, state, attempt }: Awaited<ReturnType<typeof sendPing>>) {
  return { id, delivered: state === 'delivered', attempt: presentAttempt(attempt) };
}
