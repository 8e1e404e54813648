import Joi from 'joi';
import type { Account, Role } from '../../accounts/account.model.js';
import { requireSandbox } from '../../accounts/require-sandbox.js';
import type { DeliveryEvent } from '../../webhooks/delivery.model.js';
import { sendTestEvent } from '../../webhooks/send-test-event.js';
import { defineOperation, type AnyOperation } from '../operation.js';
import { attemptData, presentAttempt } from './delivery-data.js';
import { endpointParams, type EndpointParams } from './endpoint-data.js';
import { buildRoleFields } from '../call-of-role.js';
import { buildSampleEvent, testableEvents } from './sample-event.js';

interface Body {
  event: DeliveryEvent;
}

const description =
  'The request is signed like every other. It is not repeated. In a sandbox `event` chooses what is sent: a body as of a real event, ' +
  'with a subject that nobody has.';

const buildBodySchema = (role: Role) =>
  Joi.object<Body>({
    event: Joi.string()
      .valid(...testableEvents[role])
      .default('ping')
      .description('Others than ping in a sandbox alone (403, sandbox_only).')
      .example('ping'),
  });

const data = Joi.object({
  id: Joi.string().required(),
  delivered: Joi.boolean().required(),
  attempt: attemptData.required(),
});

export function testWebhookFor(role: Role): AnyOperation {
  return defineOperation<Body>({
    ...buildRoleFields(role, { name: (who) => `test${who}Webhook`, path: '/webhooks/test' }),
    method: 'post',
    needs: 'trade',
    summary: 'Send a ping to the webhook URL now and return what it said',
    description,
    data,
    body: buildBodySchema(role),
    failures: [409],
    handle: ({ account, body }) => sendTest(account, { endpointId: null, ...body }),
  });
}

export function testEndpointFor(role: Role): AnyOperation {
  return defineOperation<Body, EndpointParams>({
    ...buildRoleFields(role, { name: (who) => `test${who}Endpoint`, path: '/webhooks/:id/test' }),
    method: 'post',
    needs: 'trade',
    summary: 'Send a ping to a webhook endpoint now and return what it said',
    description,
    data,
    params: endpointParams,
    body: buildBodySchema(role),
    failures: [404],
    handle: ({ account, params, body }) => sendTest(account, { endpointId: params.id, ...body }),
  });
}

/** To a live receiver a made-up result would be money. */
async function sendTest(account: Account, { endpointId, event }: Body & { endpointId: string | null }) {
  if (event !== 'ping') {
    requireSandbox(account);
  }
  const about = event === 'ping' ? undefined : buildSampleEvent(event);
  const { id, state, attempt } = await sendTestEvent(account, { endpointId, about });
  return { data: { id, delivered: state === 'delivered', attempt: presentAttempt(attempt) } };
}
