import mongoose, { Schema } from 'mongoose';
import { getCollection, buildToStored, Money } from '../database/typed-collection.js';

/** An operator's correction of a wallet. A large adjustment needs a second operator's approval. */
export interface Adjustment {
  _id: string;
  accountId: string;
  /** Amount in rupiah. Positive is a credit, negative a debit. Never 0. */
  amount: number;
  reason: string;
  status: 'pending' | 'completed' | 'rejected';
  /** The requester's name in the audit log. */
  requestedBy: string;
  /**
   * Name in the audit log of the operator who approved or rejected it. Null while pending, or if no
   * approval was needed.
   */
  decidedBy: string | null;
  /** The wallet's balance in rupiah after completion. Null before. */
  balanceAfter: number | null;
  createdAt: Date;
  decidedAt: Date | null;
}

const schema = new Schema<Adjustment>(
  {
    _id: { type: String, required: true },
    accountId: { type: String, required: true },
    amount: { type: Money, required: true },
    reason: { type: String, required: true },
    status: { type: String, required: true, enum: ['pending', 'completed', 'rejected'] },
    requestedBy: { type: String, required: true },
    decidedBy: { type: String, default: null },
    balanceAfter: { type: Money, default: null },
    createdAt: { type: Date, required: true },
    decidedAt: { type: Date, default: null },
  },
  { collection: 'adjustments', versionKey: false },
);
schema.index({ status: 1, createdAt: -1 }, { name: 'status_newest' });
schema.index({ accountId: 1, createdAt: -1, _id: -1 }, { name: 'account_newest_id' });
schema.index({ createdAt: -1 }, { name: 'newest' });

export const AdjustmentModel = mongoose.model('Adjustment', schema);
export const adjustments = getCollection<Adjustment>(AdjustmentModel);
export const toStored = buildToStored<Adjustment>(['amount', 'balanceAfter']);
