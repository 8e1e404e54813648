import mongoose, { Schema } from 'mongoose';

/**
 * Something that money rules refuse to decide alone: the operator sees it in the CLI and the console. That a purchase
 * is under review is no case but its own state.
 */
export interface ReconciliationCase {
  _id: string;
  /** The purchase that it is about; null: it is about `paymentId`. */
  transactionId: string | null;
  paymentId?: string;
  kind: 'contradicting-answer' | 'repeated-serial-number' | 'reversal' | 'unmatched-payment';
  detail: string;
  createdAt: Date;
  resolvedAt: Date | null;
}

const schema = new Schema<ReconciliationCase>(
  {
    _id: { type: String, required: true },
    transactionId: { type: String, default: null },
    paymentId: { type: String },
    kind: { type: String, required: true },
    detail: { type: String, required: true },
    createdAt: { type: Date, required: true },
    resolvedAt: { type: Date, default: null },
  },
  { collection: 'cases', versionKey: false },
);
schema.index(
  { transactionId: 1, kind: 1, detail: 1 },
  { unique: true, name: 'transaction_kind_detail_unique' },
);
schema.index({ resolvedAt: 1, createdAt: -1 }, { name: 'open_newest' });

/** Cases that wait for the operator. */
export const openCaseFilter = { resolvedAt: null };

export const CaseModel = mongoose.model('ReconciliationCase', schema);
