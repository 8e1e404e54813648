import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../../database/typed-collection.js';

/** No success for days; or it answered 410. */
export type DisabledBecause = 'failing' | 'gone';

/** The health of one address of one account. There is a row only once something went wrong or slowly. */
export interface Receiver {
  /** Of the form that `receiverIdOf` makes. */
  _id: string;
  accountId: string;
  /** Scheme, host, port and path: for people. */
  address: string;
  /** Since the last success. */
  failures: number;
  /** Time-outs in a row. */
  timeouts: number;
  /** First failure since the last success. */
  failingSince: Date | null;
  warnedAt: Date | null;
  /** Set: nothing is sent, what is due becomes held. */
  disabledAt: Date | null;
  disabledBecause: DisabledBecause | null;
  /** The breaker: nothing is sent before this; after it one probe. Null while closed. */
  openUntil: Date | null;
  /** How long the breaker opened last; 0 while closed. */
  openMs: number;
  /** Requests that outlived their turn may be under way until then, here or in another process. */
  slowUntil: Date | null;
}

const schema = new Schema<Receiver>(
  {
    _id: { type: String, required: true },
    accountId: { type: String, required: true },
    address: { type: String, required: true },
    failures: { type: Number, required: true },
    timeouts: { type: Number, required: true },
    failingSince: { type: Date, default: null },
    warnedAt: { type: Date, default: null },
    disabledAt: { type: Date, default: null },
    disabledBecause: { type: String, default: null },
    openUntil: { type: Date, default: null },
    openMs: { type: Number, required: true },
    slowUntil: { type: Date, default: null },
  },
  { collection: 'webhookReceivers', versionKey: false },
);
schema.index({ accountId: 1 }, { name: 'account' });
// What was disabled lately, for the operator.
schema.index(
  { disabledAt: -1 },
  { partialFilterExpression: { disabledAt: { $type: 'date' } }, name: 'disabled_newest' },
);
// Whom the breaker leaves alone just now.
schema.index(
  { openUntil: 1 },
  { partialFilterExpression: { openUntil: { $type: 'date' } }, name: 'left_alone' },
);

export const ReceiverModel = mongoose.model('WebhookReceiver', schema);

/** The driver's own collection, typed. */
export const receivers = getCollection<Receiver>(ReceiverModel);
