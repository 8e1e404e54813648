/** Events to an account's endpoints that are not about a purchase (docs/reference/api/webhooks.md). */
import { getEndpoints, type EndpointOwner, type WebhookEndpoint } from '../accounts/webhook-endpoint.js';
import { now } from '../shared/clock.js';
import { newId } from '../shared/ids.js';
import type { Delivery, DeliveryEvent } from './delivery.model.js';
import { wantsEvent } from './event-filter.js';
import { getEndpointDestination, buildDelivery } from './new-delivery.js';

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
