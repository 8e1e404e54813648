import { type WebhookEndpoint, getEndpoints, type EndpointOwner } from '../accounts/webhook-endpoint.js';
import type { DeliveryEvent, Delivery } from './deliver/delivery.model.js';
import { now } from '../shared/clock.js';
import { newId } from '../shared/ids.js';
import { getEndpointDestination, buildDelivery, getReceiverId, type UrlOwner } from './new-delivery.js';
import { redactUrlSecrets } from '../shared/mask.js';
import type { DisabledBecause } from './receivers/receiver.model.js';

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

/** Events to an account's endpoints that are not about a purchase (docs/reference/api/webhooks.md). */

interface AccountEvent {
  /** Unique: the first endpoint's row has it, those of others begin with it. */
  id: string;
  event: DeliveryEvent;
  refId: string | null;
  /** Of the call that it comes from, where that is kept. */
  requestId?: string | undefined;
  data: object;
}

/** An event that nothing has caused. */
export type TestEvent = Omit<AccountEvent, 'id'>;

const ping: TestEvent = {
  event: 'ping',
  refId: null,
  data: { message: 'This is a test of your webhook URL.' },
};

/**
 * Tells every endpoint that the configuration changed, so that a change by a stranger is noticed. New values
 * are left out: an old URL may belong to somebody else by now.
 * @param before The account before the change; its secrets sign, whatever becomes of them.
 */
export function buildConfigUpdatedDeliveries(before: EndpointOwner, changed: string[]): Delivery[] {
  const about = { id: newId(), event: 'config.updated' as const, refId: null, data: { changed } };
  return getEndpoints(before).map((endpoint) => ({
    ...buildEventDelivery(before, endpoint, about),
    secretSealed: endpoint.secretSealed,
  }));
}

/** The event of a test that the account asked for. */
export function buildTestDelivery(
  account: EndpointOwner,
  endpoint: WebhookEndpoint,
  about: TestEvent = ping,
): Delivery {
  return buildEventDelivery(account, endpoint, { id: newId(), ...about });
}

/** One row for each endpoint that wants the event, in their order. */
export function buildEventDeliveries(account: EndpointOwner, about: AccountEvent): Delivery[] {
  return getEndpoints(account)
    .filter((endpoint) => wantsEvent(endpoint, about.event))
    .map((endpoint) => buildEventDelivery(account, endpoint, about));
}

/** The envelope of docs/reference/api/webhooks.md. */
export function buildEventDelivery(
  { _id: accountId }: EndpointOwner,
  endpoint: WebhookEndpoint,
  { id, event, refId, requestId, data }: AccountEvent,
): Delivery {
  const destination = getEndpointDestination(endpoint);
  return buildDelivery({
    ...destination,
    accountId,
    event,
    refId,
    requestId,
    id: destination.endpointId === undefined ? id : `${id}-${destination.endpointId}`,
    payload: { event, data, timestamp: now().toISOString() },
  });
}

/** What the account should do about a URL that was disabled, in words; null where there is nothing to do. */
export function getDisabledAdvice(because: DisabledBecause | null): string | null {
  switch (because) {
    case 'failing':
      return 'Mend the server behind this URL or set another one. Enable it then, and replay what was held.';
    case 'gone':
      return 'It answered 410. Remove this URL or set another one; if 410 was a mistake, enable it, and replay what was held.';
    case null:
      return null;
  }
}

/**
 * Tells the account's other endpoints that one of its URLs was disabled. No row for a URL that is none of the account's
 * any more, or that a single purchase brought.
 */
export function buildWebhookDisabledDeliveries(
  account: UrlOwner,
  { receiverId, because, at }: { receiverId: string; because: DisabledBecause; at: Date },
): Delivery[] {
  const { _id: accountId, callbackUrl } = account;
  const endpoints = getEndpoints(account).map((endpoint) => ({
    endpoint,
    receiverId: getReceiverId(accountId, endpoint.url, endpoint.id),
  }));
  const own = endpoints.find((each) => each.receiverId === receiverId)?.endpoint;
  const isCallback = callbackUrl !== null && getReceiverId(accountId, callbackUrl) === receiverId;
  const url = own?.url ?? (isCallback ? callbackUrl : null);
  if (url === null) {
    return [];
  }
  const about = {
    id: newId(),
    event: 'webhook.disabled' as const,
    refId: null,
    data: {
      // Null: it is the callback URL.
      endpoint_id: own?.id ?? null,
      url: redactUrlSecrets(url),
      reason: because,
      since: at.toISOString(),
      action: getDisabledAdvice(because),
    },
  };
  return endpoints
    .filter((each) => each.receiverId !== receiverId && wantsEvent(each.endpoint, about.event))
    .map(({ endpoint }) => buildEventDelivery(account, endpoint, about));
}
