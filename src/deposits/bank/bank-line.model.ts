import mongoose, { Schema } from 'mongoose';
import { Money, getCollection } from '../../database/typed-collection.js';

export const bankLineStatuses = ['open', 'used', 'set-aside'] as const;
/** open: nobody has said whose money it is. used: it has credited a deposit. set-aside: it is for none, and why is known. */
export type BankLineStatus = (typeof bankLineStatuses)[number];

/** Money that came in, as a line of a bank statement tells it (decision 010). */
export interface BankLine {
  _id: string;
  /** What it is the same line by in every statement: day, amount, text, and which of equal ones it is. */
  key: string;
  /** On which the bank has booked it, YYYY-MM-DD. */
  day: string;
  /** Rupiah. */
  amount: number;
  /** The bank's text, which may name who paid. */
  description: string;
  status: BankLineStatus;
  /** The deposit that it has credited. */
  depositId: string | null;
  /** Name of the file that told it first. */
  file: string;
  createdAt: Date;
  /** Who used it or set it aside, when and why. */
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
