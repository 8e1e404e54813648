import { createHash } from 'node:crypto';
import type { Account } from '../accounts/account.model.js';
import { now } from '../shared/clock.js';
import type { Delivery, DeliveryChannel, DeliveryEvent } from './delivery.model.js';

/** What has the URLs that receive. */
export type UrlOwner = Pick<Account, '_id' | 'webhookUrl' | 'callbackUrl'>;

export interface NewDelivery {
  /** Stable and unique: naming it after what it tells about makes a second row for the same fact impossible. */
  id: string;
  accountId: string;
  channel: DeliveryChannel;
  url: string;
  event: DeliveryEvent;
  refId?: string | null;
  orderKey?: string;
  orderRank?: number;
  payload: object;
}

/** A delivery that is due at once. The body is fixed here: every attempt sends the same bytes. */
export function newDelivery(from: NewDelivery): Delivery {
  const createdAt = now();
  return {
    _id: from.id,
    accountId: from.accountId,
    receiverId: receiverIdOf(from.accountId, from.url),
    channel: from.channel,
    url: from.url,
    event: from.event,
    refId: from.refId ?? null,
    orderKey: from.orderKey ?? null,
    orderRank: from.orderRank ?? 0,
    body: JSON.stringify(from.payload),
    state: 'due',
    nextAttemptAt: createdAt,
    leaseToken: null,
    attemptCount: 0,
    scheduleStep: 0,
    scheduleStartedAt: createdAt,
    attempts: [],
    createdAt,
    settledAt: null,
    expireAt: null,
  };
}

/**
 * A receiver is one address of one account: scheme, host, port and path. The query is left out, so that a URL
 * with a changing parameter is still one receiver.
 */
export function receiverIdOf(accountId: string, url: string): string {
  const { origin, pathname } = new URL(url);
  const address = createHash('sha256').update(`${origin}${pathname}`).digest('hex').slice(0, 12);
  return `${accountId}-${address}`;
}

/** Of the URLs that the account has now. */
export function receiverIdsOf(account: UrlOwner): string[] {
  return [account.webhookUrl, account.callbackUrl].flatMap((url) =>
    url === null ? [] : [receiverIdOf(account._id, url)],
  );
}

/** The account of a receiver's id. */
export function accountIdOf(receiverId: string): string {
  return receiverId.slice(0, receiverId.lastIndexOf('-'));
}
