import type { WebhookEndpoint } from '../accounts/webhook-endpoint.js';
import type { DeliveryEvent } from './delivery.model.js';

/** What an endpoint's `events` may name. */
export const eventFilters = [
  '*',
  'transaction.*',
  'transaction.pending',
  'transaction.success',
  'transaction.failed',
  'settlement.*',
  'settlement.completed',
  'settlement.failed',
  'deposit.*',
  'deposit.completed',
  'config.updated',
  'webhook.disabled',
] as const;

/** Whether an endpoint gets an event. Not asked for `config.updated`, which every endpoint gets, nor for a `ping`. */
export function wantsEvent({ events }: Pick<WebhookEndpoint, 'events'>, event: DeliveryEvent): boolean {
  return events.some((filter) => matchesFilter(filter, event));
}

function matchesFilter(filter: string, event: DeliveryEvent): boolean {
  return filter === event || (filter.endsWith('*') && event.startsWith(filter.slice(0, -1)));
}
