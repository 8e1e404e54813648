import { endpointsOf } from '../accounts/webhook-endpoint.js';
import { withoutUrlSecrets } from '../shared/mask.js';
import { newId } from '../shared/ids.js';
import { eventDelivery } from './account-events.js';
import type { Delivery } from './delivery.model.js';
import { wants } from './event-filter.js';
import { receiverIdOf, type UrlOwner } from './new-delivery.js';
import type { DisabledBecause } from './receiver.model.js';

/** What the account should do about a URL that was disabled, in words; null where there is nothing to do. */
export function adviceFor(because: DisabledBecause | null): string | null {
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
export function webhookDisabledDeliveries(
  account: UrlOwner,
  { receiverId, because, at }: { receiverId: string; because: DisabledBecause; at: Date },
): Delivery[] {
  const { _id: accountId, callbackUrl } = account;
  const endpoints = endpointsOf(account).map((endpoint) => ({
    endpoint,
    receiverId: receiverIdOf(accountId, endpoint.url, endpoint.id),
  }));
  const own = endpoints.find((each) => each.receiverId === receiverId)?.endpoint;
  const isCallback = callbackUrl !== null && receiverIdOf(accountId, callbackUrl) === receiverId;
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
      url: withoutUrlSecrets(url),
      reason: because,
      since: at.toISOString(),
      action: adviceFor(because),
    },
  };
  return endpoints
    .filter((each) => each.receiverId !== receiverId && wants(each.endpoint, about.event))
    .map(({ endpoint }) => eventDelivery(account, endpoint, about));
}
