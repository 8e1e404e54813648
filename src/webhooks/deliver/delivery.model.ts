import mongoose, { Schema } from 'mongoose';
import type { ApiVersion } from '../../accounts/webhook-endpoint.js';
import { getCollection } from '../../database/typed-collection.js';

/** `x-event` of an outgoing request. */
export type DeliveryEvent =
  | 'transaction.pending'
  | 'transaction.success'
  | 'transaction.failed'
  | 'settlement.completed'
  | 'settlement.failed'
  | 'deposit.completed'
  | 'config.updated'
  | 'webhook.disabled'
  | 'ping'
  | 'callback.wallet'
  | 'callback.reseller';

/**
 * The kind of URL. `webhook` is an endpoint, `callback` is the account's callback URL, and `own` is
 * a URL given with one purchase.
 */
export type DeliveryChannel = 'webhook' | 'callback' | 'own';

/**
 * The state of a delivery.
 *
 * - due: to be sent at `nextAttemptAt`.
 * - delivered: accepted by the receiver.
 * - dead: not delivered, and no attempts are left.
 * - dropped: superseded by a newer state of its purchase, or its endpoint was removed.
 * - held: kept for a replay, because its URL is disabled or not allowed.
 */
export type DeliveryState = 'due' | 'delivered' | 'dead' | 'held' | 'dropped';

/** The acknowledgement in a 2xx response: `{"status":"received"}`, no status, or another status. */
export type Ack = 'received' | 'missing' | 'negative';

/** One request, as the account sees it. */
export interface DeliveryAttempt {
  /** Number of the attempt, from 1. Sent as `x-attempt`. */
  n: number;
  at: Date;
  durationMs: number;
  httpStatus: number | null;
  ack: Ack | null;
  /** Start of the response body, at most `webhookLimits.answerKeptBytes` bytes. */
  answer: string | null;
  /** The error as text. Null if it was delivered. */
  error: string | null;
  /**
   * Headers specific to this attempt, with truncated signatures. Absent if nothing was sent or the
   * headers were not stored.
   */
  sent?: Record<string, string>;
}

/**
 * One webhook or callback. Its row is written in the same transaction as the fact that it reports,
 * so no event is lost or sent too early. `state` and `nextAttemptAt` are authoritative; jobs only
 * speed up the delivery.
 */
export interface Delivery {
  /** Sent as `webhook-id`. The same for all attempts. */
  _id: string;
  /** The account that can see this delivery. Its secret signs the requests. */
  accountId: string;
  /** One destination of one account: the unit of back-off and fairness. */
  receiverId: string;
  channel: DeliveryChannel;
  /**
   * The endpoint whose secret signs the requests. Absent for the default endpoint and for
   * callbacks.
   */
  endpointId?: string;
  url: string;
  event: DeliveryEvent;
  /** The client's reference, by which the client can search. */
  refId: string | null;
  /**
   * The purchase's id. Rows with the same key, account, channel and endpoint are sent one at a
   * time, in ascending `orderRank`.
   */
  orderKey: string | null;
  orderRank: number;
  /** The body of every attempt, as text (UTF-8 JSON). */
  body: string;
  /** Version of the body, sent as `x-api-version`. The first version if absent. */
  version?: ApiVersion;
  /**
   * Encrypted secret that also signs this delivery, even after later rotations. Set only on notices
   * to the owner.
   */
  secretSealed?: string;
  state: DeliveryState;
  /** While the row is due, the time to send it or the end of its lease. Null otherwise. */
  nextAttemptAt: Date | null;
  leaseToken: string | null;
  /** Number of all attempts. */
  attemptCount: number;
  /** Number of attempts in the current run of the schedule; a replay starts a new run. */
  scheduleStep: number;
  scheduleStartedAt: Date;
  /** Only the last `webhookLimits.attemptsKept`. */
  attempts: DeliveryAttempt[];
  createdAt: Date;
  /** When the row left the state `due`. */
  settledAt: Date | null;
  /** TTL of delivered and dropped rows. `removeUndelivered` removes dead and held ones. */
  expireAt: Date | null;
  /**
   * Request id of the call that created the purchase. Absent for other events, and if the id cannot
   * be stored.
   */
  requestId?: string;
  /**
   * Trace of the event, if there is one. Stored per row, because one turn sends rows of many
   * traces.
   */
  traceparent?: string;
}

const attemptSchema = new Schema<DeliveryAttempt>(
  {
    n: { type: Number, required: true },
    at: { type: Date, required: true },
    durationMs: { type: Number, required: true },
    httpStatus: { type: Number, default: null },
    ack: { type: String, default: null },
    answer: { type: String, default: null },
    error: { type: String, default: null },
    sent: { type: Schema.Types.Mixed },
  },
  { _id: false },
);

const schema = new Schema<Delivery>(
  {
    _id: { type: String, required: true },
    accountId: { type: String, required: true },
    receiverId: { type: String, required: true },
    channel: { type: String, required: true },
    endpointId: { type: String },
    url: { type: String, required: true },
    event: { type: String, required: true },
    refId: { type: String, default: null },
    orderKey: { type: String, default: null },
    orderRank: { type: Number, required: true },
    body: { type: String, required: true },
    version: { type: String },
    secretSealed: { type: String },
    state: { type: String, required: true },
    nextAttemptAt: { type: Date, default: null },
    leaseToken: { type: String, default: null },
    attemptCount: { type: Number, required: true },
    scheduleStep: { type: Number, required: true },
    scheduleStartedAt: { type: Date, required: true },
    attempts: { type: [attemptSchema], required: true },
    createdAt: { type: Date, required: true },
    settledAt: { type: Date, default: null },
    expireAt: { type: Date, default: null },
    requestId: { type: String },
    traceparent: { type: String },
  },
  { collection: 'deliveries', versionKey: false },
);
// Contains only due rows, so that the index stays small.
schema.index(
  { receiverId: 1, nextAttemptAt: 1 },
  { partialFilterExpression: { state: 'due' }, name: 'receiver_due' },
);
schema.index({ orderKey: 1 }, { name: 'order_key' });
schema.index({ accountId: 1, createdAt: -1, _id: -1 }, { name: 'account_newest' });
schema.index({ accountId: 1, state: 1, createdAt: -1, _id: -1 }, { name: 'account_state_newest' });
// Finds a rare event without reading the others.
schema.index({ accountId: 1, event: 1, createdAt: -1, _id: -1 }, { name: 'account_event_newest' });
// The first index lists dead rows for operators. Both find undelivered rows whose retention has
// ended.
schema.index({ settledAt: -1 }, { partialFilterExpression: { state: 'dead' }, name: 'dead_newest' });
schema.index({ settledAt: 1 }, { partialFilterExpression: { state: 'held' }, name: 'held_oldest' });
schema.index({ accountId: 1, refId: 1 }, { name: 'account_ref' });
// Only rows of further endpoints, so that accounts with one endpoint pay nothing for this index.
schema.index(
  { accountId: 1, endpointId: 1, createdAt: -1, _id: -1 },
  { partialFilterExpression: { endpointId: { $exists: true } }, name: 'account_endpoint_newest' },
);
schema.index({ expireAt: 1 }, { expireAfterSeconds: 0, name: 'expire' });

export const DeliveryModel = mongoose.model('Delivery', schema);

/** The driver's own collection, typed, without the cost of mongoose documents. */
export const deliveries = getCollection<Delivery>(DeliveryModel);
