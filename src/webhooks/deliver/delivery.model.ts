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

/** Which of a client's URLs it goes to: `webhook` an endpoint, `own` the URL that one purchase brought with it. */
export type DeliveryChannel = 'webhook' | 'callback' | 'own';

/**
 * due: to be sent at `nextAttemptAt`. delivered, dead (given up), dropped (a newer state of the same
 * purchase made it worthless, or its endpoint was removed). held: kept until the account asks for it, because its URL is disabled or not allowed.
 */
export type DeliveryState = 'due' | 'delivered' | 'dead' | 'held' | 'dropped';

/** What a 2xx answer said: `{"status":"received"}`, nothing of the kind, or another status. */
export type Ack = 'received' | 'missing' | 'negative';

/** One request that was made, as the account sees it. */
export interface DeliveryAttempt {
  /** From 1; also `x-attempt`. */
  n: number;
  at: Date;
  durationMs: number;
  httpStatus: number | null;
  ack: Ack | null;
  /** First bytes of the answer, at most `webhookLimits.answerKeptBytes`. */
  answer: string | null;
  /** Plain words on what went wrong; null if it was delivered. */
  error: string | null;
  /** Headers that this attempt alone had, signatures cut short. Absent: nothing was sent, or by a release that did not keep them. */
  sent?: Record<string, string>;
}

/**
 * One webhook or callback. Its row is written in the database transaction of what it tells about, so that no
 * event is lost and none precedes its fact. `state` and `nextAttemptAt` are the truth; jobs only save time.
 */
export interface Delivery {
  /** Stable over all attempts: `webhook-id`. */
  _id: string;
  /** Whose secret signs it and who sees it. */
  accountId: string;
  /** One destination of one account: the unit of ordering, back-off and fairness. */
  receiverId: string;
  channel: DeliveryChannel;
  /** Of a webhook to another endpoint than that of `webhook_url`: whose secret signs it. */
  endpointId?: string;
  url: string;
  event: DeliveryEvent;
  /** The client's reference, for its own searches. */
  refId: string | null;
  /** The purchase's id: rows of one key, account, channel and endpoint go out by rising `orderRank`, one at a time. */
  orderKey: string | null;
  orderRank: number;
  /** The bytes of every attempt, as text (UTF-8 JSON). */
  body: string;
  /** Of the body, as its endpoint had chosen it; `x-api-version` of every attempt. Absent: the first. */
  version?: ApiVersion;
  /** A notice to the owner: signed with this secret too, however often the account's own was replaced since. */
  secretSealed?: string;
  state: DeliveryState;
  /** While due: when to send, or, while a worker holds the lease, when another may. Null otherwise. */
  nextAttemptAt: Date | null;
  leaseToken: string | null;
  /** Attempts ever made. */
  attemptCount: number;
  /** Attempts made in the present run of the schedule; a replay starts a new run. */
  scheduleStep: number;
  scheduleStartedAt: Date;
  /** The last ones only. */
  attempts: DeliveryAttempt[];
  createdAt: Date;
  /** When it stopped being due. */
  settledAt: Date | null;
  /** Delivered and dropped rows go after this; dead and held ones by `removeUndelivered`. */
  expireAt: Date | null;
  /** Of the call that bought what it tells about. Absent where it tells of something else, and where it may not be kept. */
  requestId?: string;
  /** Of the trace that it is part of, where there is one: a turn of its receiver sends rows of many. */
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
// Only what is due: small, however long the history.
schema.index(
  { receiverId: 1, nextAttemptAt: 1 },
  { partialFilterExpression: { state: 'due' }, name: 'receiver_due' },
);
schema.index({ orderKey: 1 }, { name: 'order_key' });
schema.index({ accountId: 1, createdAt: -1, _id: -1 }, { name: 'account_newest' });
schema.index({ accountId: 1, state: 1, createdAt: -1, _id: -1 }, { name: 'account_state_newest' });
// An event that is rare among many others is found without reading those.
schema.index({ accountId: 1, event: 1, createdAt: -1, _id: -1 }, { name: 'account_event_newest' });
// What was given up, for the operator; and what was not delivered, until it was kept long enough.
schema.index({ settledAt: -1 }, { partialFilterExpression: { state: 'dead' }, name: 'dead_newest' });
schema.index({ settledAt: 1 }, { partialFilterExpression: { state: 'held' }, name: 'held_oldest' });
schema.index({ accountId: 1, refId: 1 }, { name: 'account_ref' });
// Of the endpoints that are not the first: accounts with one pay nothing for it.
schema.index(
  { accountId: 1, endpointId: 1, createdAt: -1, _id: -1 },
  { partialFilterExpression: { endpointId: { $exists: true } }, name: 'account_endpoint_newest' },
);
schema.index({ expireAt: 1 }, { expireAfterSeconds: 0, name: 'expire' });

export const DeliveryModel = mongoose.model('Delivery', schema);

/** The driver's own collection, typed: for writes and reads that must not pay for mongoose documents. */
export const deliveries = getCollection<Delivery>(DeliveryModel);
