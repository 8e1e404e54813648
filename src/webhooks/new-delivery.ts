import { nowMs, now } from '../shared/clock.js';
import { createHash } from 'node:crypto';
import type { Account } from '../accounts/account.model.js';
import {
  defaultEndpointId,
  getEndpoints,
  type ApiVersion,
  type EndpointOwner,
  type WebhookEndpoint,
} from '../accounts/webhook-endpoint.js';
import { serializeTrace } from '../shared/tracing.js';
import {
  type Delivery,
  type DeliveryChannel,
  type DeliveryEvent,
  deliveries,
} from './deliver/delivery.model.js';
import type { Session } from '../database/mongo.js';
import type { Insert } from '../money/posting/posting.js';

/** More than the clocks of two processes differ: each is known by half a trip to Redis, and those of one that starts are long. */
const clockSkewMs = 1_000;

/**
 * The time of a row that may be sent now: also by the clock of a process that is a little behind. It would find nothing due in
 * the turn that it was asked for, and the row would wait for the sweep.
 */
export function getImmediateDueTime(): Date {
  return new Date(nowMs() - clockSkewMs);
}

/** What has the URLs that receive. */
export type UrlOwner = EndpointOwner & Pick<Account, 'callbackUrl'>;

export interface NewDelivery {
  /** Stable and unique: naming it after what it tells about makes a second row for the same fact impossible. */
  id: string;
  accountId: string;
  channel: DeliveryChannel;
  endpointId?: string;
  version?: ApiVersion;
  url: string;
  event: DeliveryEvent;
  refId?: string | null;
  orderKey?: string;
  orderRank?: number;
  requestId?: string | undefined;
  payload: object;
}

/** A delivery that is due at once. The body is fixed here: every attempt sends the same bytes. */
export function buildDelivery(from: NewDelivery): Delivery {
  const createdAt = now();
  const traceparent = serializeTrace();
  return {
    _id: from.id,
    accountId: from.accountId,
    receiverId: getReceiverId(from.accountId, from.url, from.endpointId),
    channel: from.channel,
    ...(from.endpointId !== undefined && { endpointId: from.endpointId }),
    ...(from.version !== undefined && { version: from.version }),
    url: from.url,
    event: from.event,
    refId: from.refId ?? null,
    orderKey: from.orderKey ?? null,
    orderRank: from.orderRank ?? 0,
    body: JSON.stringify(from.payload),
    state: 'due',
    nextAttemptAt: getImmediateDueTime(),
    leaseToken: null,
    attemptCount: 0,
    scheduleStep: 0,
    scheduleStartedAt: createdAt,
    attempts: [],
    createdAt,
    settledAt: null,
    expireAt: null,
    ...(from.requestId !== undefined && { requestId: from.requestId }),
    ...(traceparent !== undefined && { traceparent }),
  };
}

/** Where a webhook to this endpoint goes. The first has no name here: its rows are those that there were before endpoints. */
export function getEndpointDestination({ id, url, version }: WebhookEndpoint) {
  return { channel: 'webhook' as const, url, version, ...(id !== defaultEndpointId && { endpointId: id }) };
}

/**
 * A receiver is one address of one account: scheme, host, port and path. The query is left out, so that a URL
 * with a changing parameter is still one receiver. Each endpoint beside the first is a receiver of its own, whoever
 * else has its address: none waits for another, and with another URL it begins anew.
 */
export function getReceiverId(accountId: string, url: string, endpointId = defaultEndpointId): string {
  const { origin, pathname } = new URL(url);
  const prefix = endpointId === defaultEndpointId ? '' : `${endpointId} `;
  const address = createHash('sha256').update(`${prefix}${origin}${pathname}`).digest('hex').slice(0, 12);
  return `${accountId}-${address}`;
}

/** Of the URLs that the account has now. */
export function getReceiverIds(account: UrlOwner): string[] {
  const endpoints = getEndpoints(account).map(({ id, url }) => getReceiverId(account._id, url, id));
  return [...new Set([...endpoints, ...getConfigReceiverIds(account)])];
}

/** Of `webhook_url` and `callback_url`. */
export function getConfigReceiverIds(account: UrlOwner): string[] {
  return [account.webhookUrl, account.callbackUrl].flatMap((url) =>
    url === null ? [] : [getReceiverId(account._id, url)],
  );
}

/** The account of a receiver's id. */
export function getReceiverAccountId(receiverId: string): string {
  return receiverId.slice(0, receiverId.lastIndexOf('-'));
}

/**
 * Writes rows within the caller's database transaction, so that an event exists exactly if its fact does.
 * @throws MongoServerError (duplicate key) if one of them was written before.
 */
export async function insertDeliveries(session: Session, rows: Delivery[]): Promise<void> {
  if (rows.length > 0) {
    await deliveries.insertMany(rows, { session });
  }
}

/** The rows for a posting, so that an event exists exactly if its fact does. */
export function buildDeliveryInserts(rows: Delivery[]): Insert[] {
  return rows.map((document) => ({ collection: deliveries.collectionName, document }));
}
