import mongoose, { Schema } from 'mongoose';

/**
 * A contradiction that the money rules do not resolve automatically. Operators see it in the CLI
 * and the console. A purchase under review is not a case; the review is a state of the purchase.
 */
export interface ReconciliationCase {
  _id: string;
  /** The purchase concerned. Null if the case concerns `paymentId` or `bankLineId`. */
  transactionId: string | null;
  paymentId?: string;
  /** The bank line concerned: a payment that the bank took back. */
  bankLineId?: string;
  kind:
    | 'contradicting-answer'
    | 'repeated-serial-number'
    | 'cost-above-maximum'
    | 'reversal'
    | 'unmatched-payment'
    | 'payment-taken-back';
  detail: string;
  createdAt: Date;
  resolvedAt: Date | null;
}

const schema = new Schema<ReconciliationCase>(
  {
    _id: { type: String, required: true },
    transactionId: { type: String, default: null },
    paymentId: { type: String },
    bankLineId: { type: String },
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

/** Matches cases that are not resolved. */
export const openCaseFilter = { resolvedAt: null };

export const CaseModel = mongoose.model('ReconciliationCase', schema);
