import mongoose, { Schema } from 'mongoose';
import { Money, getCollection } from '../../database/typed-collection.js';

export const bankLineStatuses = ['open', 'used', 'set-aside', 'taken-back', 'correction'] as const;
/**
 * Status of a bank line.
 *
 * - open: not assigned yet.
 * - used: credited to a deposit.
 * - set-aside: belongs to no deposit, for a recorded reason.
 * - taken-back: the bank took the payment back before it was credited.
 * - correction: an outgoing line that takes back a payment.
 */
export type BankLineStatus = (typeof bankLineStatuses)[number];
/** Statuses of payments that are no longer open. */
export const decidedStatuses = ['used', 'set-aside', 'taken-back'] as const satisfies BankLineStatus[];

/** An incoming payment on a bank statement, or the correction of one (decision 010). */
export interface BankLine {
  _id: string;
  /** Identifies the line in every statement. It is a hash of day, amount, text and occurrence. */
  key: string;
  /** Booking day, YYYY-MM-DD. */
  day: string;
  /** Amount in rupiah. */
  amount: number;
  /** The bank's text, which may name the payer. */
  description: string;
  status: BankLineStatus;
  /** The deposit that this line credited. Null if none. */
  depositId: string | null;
  /** The correction of a payment, or the payment of a correction. Older lines have no such field. */
  counterpartId?: string | null;
  /** Name of the first file that contained the line. */
  file: string;
  createdAt: Date;
  /** The decision to use the line or to set it aside. Null while the line is open. */
  decided: { at: Date; actor: string; reason: string | null } | null;
}

const decided = new Schema({ at: Date, actor: String, reason: String }, { _id: false });
const schema = new Schema<BankLine>(
  {
    _id: { type: String, required: true },
    key: { type: String, required: true },
    day: { type: String, required: true },
    amount: { type: Money, required: true },
    description: { type: String, default: '' },
    status: { type: String, required: true, enum: bankLineStatuses },
    depositId: { type: String, default: null },
    counterpartId: { type: String, default: null },
    file: { type: String, required: true },
    createdAt: { type: Date, required: true },
    decided: { type: decided, default: null },
  },
  { collection: 'bankLines', versionKey: false },
);
schema.index({ key: 1 }, { unique: true, name: 'key_unique' });
schema.index(
  { depositId: 1 },
  { unique: true, partialFilterExpression: { depositId: { $type: 'string' } }, name: 'deposit_unique' },
);
schema.index({ status: 1, day: -1, _id: -1 }, { name: 'status_newest' });
schema.index({ status: 1, amount: 1, day: 1 }, { name: 'status_amount_day' });

export const BankLineModel = mongoose.model('BankLine', schema);
export const bankLines = getCollection<BankLine>(BankLineModel);
