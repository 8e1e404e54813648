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

/** The kind of URL: `webhook` is an endpoint, `own` is a URL that one purchase brought. */
export type DeliveryChannel = 'webhook' | 'callback' | 'own';

/**
 * The state of a delivery.
 *
 * - due: to be sent at `nextAttemptAt`.
 * - delivered: accepted by the receiver.
 * - dead: given up.
 * - dropped: superseded by a newer state of its purchase, or its endpoint was removed.
 * - held: kept for a replay, because its URL is disabled or not allowed.
 */
export type DeliveryState = 'due' | 'delivered' | 'dead' | 'held' | 'dropped';

/** The body of a 2xx answer: `{"status":"received"}`, no status, or another status. */
export type Ack = 'received' | 'missing' | 'negative';

/** One request, as the account sees it. */
export interface DeliveryAttempt {
  /** From 1; also `x-attempt`. */
  n: number;
  at: Date;
  durationMs: number;
  httpStatus: number | null;
  ack: Ack | null;
  /** First bytes of the answer, at most `webhookLimits.answerKeptBytes`. */
  answer: string | null;
  /** The error as text; null if it was delivered. */
  error: string | null;
  /**
   * Headers specific to this attempt, with truncated signatures. Absent if nothing was sent or they
   * were not stored.
   */
  sent?: Record<string, string>;
}

/**
 * One webhook or callback. Its row is written in the transaction of its fact, so no event is lost
 * or precedes its fact. `state` and `nextAttemptAt` are authoritative; jobs only save time.
 */
export interface Delivery {
  /** The same for all attempts: `webhook-id`. */
  _id: string;
  /** The account whose secret signs it and that can see it. */
  accountId: string;
  /** One destination of one account: the unit of back-off and fairness. */
  receiverId: string;
  channel: DeliveryChannel;
  /** The endpoint, whose secret signs it. Absent for the default endpoint and for callbacks. */
  endpointId?: string;
  url: string;
  event: DeliveryEvent;
  /** The client's reference, for its searches. */
  refId: string | null;
  /**
   * The purchase's id. Rows of one key, account, channel and endpoint are sent by rising
   * `orderRank`, one at a time.
   */
  orderKey: string | null;
  orderRank: number;
  /** The body of every attempt, as text (UTF-8 JSON). */
  body: string;
  /** Version of the body; `x-api-version` of every attempt. Absent: the first version. */
  version?: ApiVersion;
  /** Set on notices to the owner, which this secret also signs, even after later rotations. */
  secretSealed?: string;
  state: DeliveryState;
  /** While due: the time to send, or, while leased, the end of the lease. Null otherwise. */
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
  /** When it stopped being due. */
  settledAt: Date | null;
  /** TTL of delivered and dropped rows. `removeUndelivered` removes dead and held ones. */
  expireAt: Date | null;
  /** Request id of the purchase's call. Absent for other events, and if it is not storable. */
  requestId?: string;
  /** Its trace, if there is one. A turn sends rows of many traces. */
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
// Only due rows, so that it stays small.
schema.index(
  { receiverId: 1, nextAttemptAt: 1 },
  { partialFilterExpression: { state: 'due' }, name: 'receiver_due' },
);
schema.index({ orderKey: 1 }, { name: 'order_key' });
schema.index({ accountId: 1, createdAt: -1, _id: -1 }, { name: 'account_newest' });
schema.index({ accountId: 1, state: 1, createdAt: -1, _id: -1 }, { name: 'account_state_newest' });
// Finds a rare event without reading the others.
schema.index({ accountId: 1, event: 1, createdAt: -1, _id: -1 }, { name: 'account_event_newest' });
// Dead rows for operators, and undelivered rows until their retention ends.
schema.index({ settledAt: -1 }, { partialFilterExpression: { state: 'dead' }, name: 'dead_newest' });
schema.index({ settledAt: 1 }, { partialFilterExpression: { state: 'held' }, name: 'held_oldest' });
schema.index({ accountId: 1, refId: 1 }, { name: 'account_ref' });
// Only rows of further endpoints, so that accounts with one endpoint pay nothing for it.
schema.index(
  { accountId: 1, endpointId: 1, createdAt: -1, _id: -1 },
  { partialFilterExpression: { endpointId: { $exists: true } }, name: 'account_endpoint_newest' },
);
schema.index({ expireAt: 1 }, { expireAfterSeconds: 0, name: 'expire' });

export const DeliveryModel = mongoose.model('Delivery', schema);

/** The driver's own collection, typed, without the cost of mongoose documents. */
export const deliveries = getCollection<Delivery>(DeliveryModel);
