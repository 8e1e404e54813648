/** Events to `webhook_url` that are not about a purchase (docs/interface.md#webhooks). */
import type { Account } from '../accounts/account.model.js';
import { now } from '../shared/clock.js';
import { newId } from '../shared/ids.js';
import type { Delivery, DeliveryEvent } from './delivery.model.js';
import { newDelivery } from './new-delivery.js';

export type WebhookReceiver = Pick<Account, '_id' | 'webhookUrl'>;

/**
 * Tells the old webhook URL that the configuration changed, so that a change by a stranger is noticed. New values
 * are left out: the old URL may belong to somebody else by now.
 * @param before The account before the change.
 */
export function configUpdatedDeliveries(before: WebhookReceiver, changed: string[]): Delivery[] {
  return eventDeliveries(before, { id: newId(), event: 'config.updated', refId: null, data: { changed } });
}

/** The event of a test that the account asked for. */
export function pingDeliveries(account: WebhookReceiver): Delivery[] {
  return eventDeliveries(account, {
    id: newId(),
    event: 'ping',
    refId: null,
    data: { message: 'This is a test of your webhook URL.' },
  });
}

/** The envelope of docs/interface.md#webhooks. No row if the account has no webhook URL. */
export function eventDeliveries(
  account: WebhookReceiver,
  about: { id: string; event: DeliveryEvent; refId: string | null; data: object },
): Delivery[] {
  if (account.webhookUrl === null) {
    return [];
  }
  return [
    newDelivery({
      id: about.id,
      accountId: account._id,
      channel: 'webhook',
      url: account.webhookUrl,
      event: about.event,
      refId: about.refId,
      payload: { event: about.event, data: about.data, timestamp: now().toISOString() },
    }),
  ];
}
