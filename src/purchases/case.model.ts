import mongoose, { Schema } from 'mongoose';

/** Something that money rules refuse to decide alone: the operator sees it in the CLI and the console. */
export interface ReconciliationCase {
  _id: string;
  transactionId: string;
  kind: 'contradicting-answer' | 'repeated-serial-number' | 'reversal' | 'review';
  detail: string;
  createdAt: Date;
  resolvedAt: Date | null;
}

const schema = new Schema<ReconciliationCase>(
  {
    _id: { type: String, required: true },
    transactionId: { type: String, required: true },
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

export const CaseModel = mongoose.model('ReconciliationCase', schema);
