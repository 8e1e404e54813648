import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../../database/typed-collection.js';

/** `failing` means no success for days. `gone` means a 410 response. */
export type DisabledBecause = 'failing' | 'gone';

/** The health of one address of one account. The row exists only after a failure or slowness. */
export interface Receiver {
  /** As built by `getReceiverId`. */
  _id: string;
  accountId: string;
  /** Scheme, host, port and path, for display. */
  address: string;
  /** Number of failures since the last success. */
  failures: number;
  /** Consecutive timeouts. */
  timeouts: number;
  /** First failure since the last success. */
  failingSince: Date | null;
  warnedAt: Date | null;
  /** If set, nothing is sent, and due rows become held. */
  disabledAt: Date | null;
  disabledBecause: DisabledBecause | null;
  /**
   * End of the circuit breaker's opening. Nothing is sent before it, and then one probe. Null while
   * closed.
   */
  openUntil: Date | null;
  /** Length of the last opening in milliseconds; 0 while closed. */
  openMs: number;
  /** Until this time, requests that outlived their turn may be in flight in any process. */
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
// Recently disabled receivers, for operators.
schema.index(
  { disabledAt: -1 },
  { partialFilterExpression: { disabledAt: { $type: 'date' } }, name: 'disabled_newest' },
);
// Receivers with an open circuit breaker.
schema.index(
  { openUntil: 1 },
  { partialFilterExpression: { openUntil: { $type: 'date' } }, name: 'left_alone' },
);

export const ReceiverModel = mongoose.model('WebhookReceiver', schema);

export const receivers = getCollection<Receiver>(ReceiverModel);
