import { type WebhookEndpoint, getEndpoints, type EndpointOwner } from '../accounts/webhook-endpoint.js';
import type { DeliveryEvent, Delivery } from './deliver/delivery.model.js';
import { now } from '../shared/clock.js';
import { newId } from '../shared/ids.js';
import { getEndpointDestination, buildDelivery, getReceiverId, type UrlOwner } from './new-delivery.js';
import { redactUrlSecrets } from '../shared/mask.js';
import type { DisabledBecause } from './receivers/receiver.model.js';

/** Values of an endpoint's `events`. */
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

/**
 * True if an endpoint wants an event. Not used for `config.updated`, which every endpoint gets, nor
 * for `ping`.
 */
export function wantsEvent({ events }: Pick<WebhookEndpoint, 'events'>, event: DeliveryEvent): boolean {
  return events.some((filter) => matchesFilter(filter, event));
}

function matchesFilter(filter: string, event: DeliveryEvent): boolean {
  return filter === event || (filter.endsWith('*') && event.startsWith(filter.slice(0, -1)));
}

/** An event about an account, not about a purchase (docs/reference/api/webhooks.md). */
interface AccountEvent {
  /** Unique. It is the id of the default endpoint's row; ids of other rows begin with it. */
  id: string;
  event: DeliveryEvent;
  refId: string | null;
  /** Request id of the causing call, if it is stored. */
  requestId?: string | undefined;
  data: object;
}

/** Content of a test event. Its id is assigned when the delivery is built. */
export type TestEvent = Omit<AccountEvent, 'id'>;

const ping: TestEvent = {
  event: 'ping',
  refId: null,
  data: { message: 'This is a test of your webhook URL.' },
};

/**
 * Builds a `config.updated` event for every endpoint, so that the owner notices a change by an
 * intruder. The event omits the new values, because someone else may own the old URL by now.
 * @param before The account before the change; its secrets sign the events even after a rotation.
 */
export function buildConfigUpdatedDeliveries(before: EndpointOwner, changed: string[]): Delivery[] {
  const about = { id: newId(), event: 'config.updated' as const, refId: null, data: { changed } };
  return getEndpoints(before).map((endpoint) => ({
    ...buildEventDelivery(before, endpoint, about),
    secretSealed: endpoint.secretSealed,
  }));
}

/** Builds the delivery of a test event. */
export function buildTestDelivery(
  account: EndpointOwner,
  endpoint: WebhookEndpoint,
  about: TestEvent = ping,
): Delivery {
  return buildEventDelivery(account, endpoint, { id: newId(), ...about });
}

/** Builds one row per endpoint that wants the event, in the order of the endpoints. */
export function buildEventDeliveries(account: EndpointOwner, about: AccountEvent): Delivery[] {
  return getEndpoints(account)
    .filter((endpoint) => wantsEvent(endpoint, about.event))
    .map((endpoint) => buildEventDelivery(account, endpoint, about));
}

/** Builds one row with the envelope of docs/reference/api/webhooks.md. */
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

/**
 * Returns what the account should do about a disabled URL. Null if the account need not do
 * anything.
 */
export function getDisabledAdvice(because: DisabledBecause | null): string | null {
  switch (because) {
    case 'failing':
      return 'Fix the server or set another URL. Then enable it, and replay the held deliveries.';
    case 'gone':
      return 'It returned 410. Remove this URL or set another one; if 410 was a mistake, enable it and replay the held deliveries.';
    case null:
      return null;
  }
}

/**
 * Builds `webhook.disabled` events for the account's other endpoints. Returns none for a URL that
 * the account has replaced, or that was given with a single purchase.
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
      // Null for the callback URL.
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
