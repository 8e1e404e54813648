/**
 * Test events for `POST /api/<role>/webhooks/test`. Their bodies were recorded from real events
 * (decision 036).
 */
import type { Role, Account } from '../../accounts/account.model.js';
import { newId } from '../../shared/ids.js';
import { lookUp } from '../../shared/collections.js';
import type { DeliveryEvent } from '../../webhooks/deliver/delivery.model.js';
import type { TestEvent } from '../../webhooks/account-events.js';
import { recordedExamples } from '../openapi/examples.js';
import Joi from 'joi';
import { requireSandbox } from '../../accounts/effective-settings.js';
import { sendTestEvent } from '../../webhooks/endpoints/send-test-event.js';
import { defineOperation, type AnyOperation, buildRoleFields } from '../contract/operation.js';
import { attemptData, presentAttempt } from './deliveries.js';
import { endpointParams, type EndpointParams } from './endpoint-data.js';

const commonEvents = ['ping', 'config.updated', 'webhook.disabled'] as const satisfies DeliveryEvent[];

/** Events that the endpoints of a role get. */
export const testableEvents = {
  buyer: [
    'transaction.pending',
    'transaction.success',
    'transaction.failed',
    'deposit.completed',
    ...commonEvents,
  ],
  seller: ['settlement.completed', 'settlement.failed', ...commonEvents],
} as const satisfies Record<Role, readonly DeliveryEvent[]>;

/**
 * Fields that hold the subject's id. Each test gets a new id, because receivers use it to recognise
 * repeated events.
 */
const idFields = ['transaction_id', 'settlement_id'];
const timeFields = ['timestamp', 'completed_at', 'since'];

/**
 * Returns a test event with a new subject.
 * @throws Error if no example of the event was recorded.
 */
export function buildSampleEvent(event: Exclude<DeliveryEvent, 'ping'>): TestEvent {
  const example = lookUp(recordedExamples.webhooks, event) as { data: Record<string, unknown> } | undefined;
  if (!example) {
    throw new Error(`No example of ${event} was recorded`);
  }
  const id = newId();
  const at = new Date().toISOString();
  const refId = 'ref_id' in example.data ? `test-${id}` : null;
  const data = Object.fromEntries(
    Object.entries(example.data).map(([name, value]) => [
      name,
      name === 'ref_id' ? refId : idFields.includes(name) ? id : timeFields.includes(name) ? at : value,
    ]),
  );
  return { event, refId, data };
}

interface Body {
  event: DeliveryEvent;
}

const description =
  'The request is signed like every other and is not retried. In a sandbox, `event` chooses the event. The body ' +
  'is that of a real event with a subject that does not exist.';

const buildBodySchema = (role: Role) =>
  Joi.object<Body>({
    event: Joi.string()
      .valid(...testableEvents[role])
      .default('ping')
      .description('Events other than ping work only in a sandbox (otherwise 403, sandbox_only).')
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
    summary: 'Send a ping to the webhook URL now and return its response',
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
    summary: 'Send a ping to a webhook endpoint now and return its response',
    description,
    data,
    params: endpointParams,
    body: buildBodySchema(role),
    failures: [404],
    handle: ({ account, params, body }) => sendTest(account, { endpointId: params.id, ...body }),
  });
}

/**
 * Sends events other than `ping` only in a sandbox. A live receiver would book an invented result
 * as real money.
 */
async function sendTest(account: Account, { endpointId, event }: Body & { endpointId: string | null }) {
  if (event !== 'ping') {
    requireSandbox(account);
  }
  const about = event === 'ping' ? undefined : buildSampleEvent(event);
  const { id, state, attempt } = await sendTestEvent(account, { endpointId, about });
  return { data: { id, delivered: state === 'delivered', attempt: presentAttempt(attempt) } };
}
