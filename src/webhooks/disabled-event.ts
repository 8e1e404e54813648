import { getEndpoints } from '../accounts/webhook-endpoint.js';
import { redactUrlSecrets } from '../shared/mask.js';
import { newId } from '../shared/ids.js';
import { buildEventDelivery } from './account-events.js';
import type { Delivery } from './delivery.model.js';
import { wantsEvent } from './event-filter.js';
import { getReceiverId, type UrlOwner } from './new-delivery.js';
import type { DisabledBecause } from './receiver.model.js';

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
