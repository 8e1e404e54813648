/** Events that nothing has caused, for `POST /api/<role>/webhooks/test`: bodies as the service once sent them (decision 036). */
import type { Role } from '../../accounts/account.model.js';
import { newId } from '../../shared/ids.js';
import { lookUp } from '../../shared/look-up.js';
import type { DeliveryEvent } from '../../webhooks/delivery.model.js';
import type { TestEvent } from '../../webhooks/account-events.js';
import { recordedExamples } from '../openapi/examples.js';

const commonEvents = ['ping', 'config.updated', 'webhook.disabled'] as const satisfies DeliveryEvent[];

/** What the endpoints of a role get. */
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

/** Their subject is new each time: receivers know an event that they have had by it. */
const ids = ['transaction_id', 'settlement_id'];
const times = ['timestamp', 'completed_at', 'since'];

/** @throws Error for an event of which no example was recorded. */
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
      name === 'ref_id' ? refId : ids.includes(name) ? id : times.includes(name) ? at : value,
    ]),
  );
  return { event, refId, data };
}
