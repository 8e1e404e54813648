import mongoose, { Schema } from 'mongoose';
import { getCollection, buildToStored, Money } from '../database/typed-collection.js';

/**
 * A deposit. Amounts are in rupiah. A `pending` deposit waits for its payment
 * (DEPOSIT_MODE=confirm).
 */
export interface Deposit {
  _id: string;
  accountId: string;
  refId: string;
  amount: number;
  status: 'pending' | 'completed' | 'rejected';
  balanceBefore: number;
  balanceAfter: number;
  createdAt: Date;
  completedAt: Date | null;
}

const schema = new Schema<Deposit>(
  {
    _id: { type: String, required: true },
    accountId: { type: String, required: true },
    refId: { type: String, required: true },
    amount: { type: Money, required: true },
    status: { type: String, required: true, enum: ['pending', 'completed', 'rejected'] },
    balanceBefore: { type: Money, required: true },
    balanceAfter: { type: Money, required: true },
    createdAt: { type: Date, required: true },
    completedAt: { type: Date, default: null },
  },
  { collection: 'deposits', versionKey: false },
);
schema.index({ accountId: 1, refId: 1 }, { unique: true, name: 'account_ref_unique' });
schema.index({ accountId: 1, createdAt: -1, _id: -1 }, { name: 'account_newest_id' });
// `status` is an index key as well, so that the index alone can serve a count.
schema.index(
  { accountId: 1, status: 1, createdAt: 1 },
  { partialFilterExpression: { status: 'pending' }, name: 'account_pending' },
);
// Bank lines are matched with deposits by amount, across all accounts.
schema.index({ amount: 1, createdAt: 1 }, { name: 'amount_oldest' });
schema.index({ status: 1, createdAt: 1 }, { name: 'status_oldest' });
// Operators choose among the pending deposits of an amount. Most deposits are finished.
schema.index(
  { amount: 1, createdAt: -1 },
  { partialFilterExpression: { status: 'pending' }, name: 'pending_amount_newest' },
);

export const DepositModel = mongoose.model('Deposit', schema);
export const deposits = getCollection<Deposit>(DepositModel);
export const toStored = buildToStored<Deposit>(['amount', 'balanceBefore', 'balanceAfter']);
