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

/**
 * Upper bound of the difference between the clocks of two processes. Each clock is measured to half
 * a round trip to Redis, which is long while a process starts.
 */
const clockSkewMs = 1_000;

/**
 * Returns the due time of a row to send now. It is slightly in the past. Otherwise a worker whose
 * clock is behind would miss the row in its turn, and the row would wait for the sweep.
 */
export function getImmediateDueTime(): Date {
  return new Date(nowMs() - clockSkewMs);
}

/** An account with its receiving URLs. */
export type UrlOwner = EndpointOwner & Pick<Account, 'callbackUrl'>;

export interface NewDelivery {
  /** Stable and unique. Derive it from the reported fact, so that each fact has only one row. */
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

/** Builds a delivery that is due at once. Its body is fixed for all attempts. */
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

/**
 * Returns the destination fields of a webhook to this endpoint. Rows of the default endpoint have
 * no `endpointId`.
 */
export function getEndpointDestination({ id, url, version }: WebhookEndpoint) {
  return { channel: 'webhook' as const, url, version, ...(id !== defaultEndpointId && { endpointId: id }) };
}

/**
 * Returns the id of a receiver: one address (scheme, host, port, path) of one account. It ignores
 * the query, so that a changing parameter does not create receivers. Each further endpoint is a
 * separate receiver, even with the same address, and changing its URL starts a new one.
 */
export function getReceiverId(accountId: string, url: string, endpointId = defaultEndpointId): string {
  const { origin, pathname } = new URL(url);
  const prefix = endpointId === defaultEndpointId ? '' : `${endpointId} `;
  const address = createHash('sha256').update(`${prefix}${origin}${pathname}`).digest('hex').slice(0, 12);
  return `${accountId}-${address}`;
}

/** Returns the receivers of all current URLs of the account. */
export function getReceiverIds(account: UrlOwner): string[] {
  const endpoints = getEndpoints(account).map(({ id, url }) => getReceiverId(account._id, url, id));
  return [...new Set([...endpoints, ...getConfigReceiverIds(account)])];
}

/** Returns the receivers of `webhook_url` and `callback_url`. */
export function getConfigReceiverIds(account: UrlOwner): string[] {
  return [account.webhookUrl, account.callbackUrl].flatMap((url) =>
    url === null ? [] : [getReceiverId(account._id, url)],
  );
}

/** Returns the account id within a receiver's id. */
export function getReceiverAccountId(receiverId: string): string {
  return receiverId.slice(0, receiverId.lastIndexOf('-'));
}

/**
 * Writes rows in the caller's database transaction, so that an event is stored if and only if its
 * fact is.
 * @throws MongoServerError (duplicate key) if one of the rows was written before.
 */
export async function insertDeliveries(session: Session, rows: Delivery[]): Promise<void> {
  if (rows.length > 0) {
    await deliveries.insertMany(rows, { session });
  }
}

/** Builds the inserts for a posting, so that an event is stored if and only if its fact is. */
export function buildDeliveryInserts(rows: Delivery[]): Insert[] {
  return rows.map((document) => ({ collection: deliveries.collectionName, document }));
}
