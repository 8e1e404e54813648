import mongoose, { Schema } from 'mongoose';
import { getCollection, buildToStored, Money } from '../database/typed-collection.js';

/** A payment from a notification (docs/reference/api/deposits.md#payment-notifications). */
export interface Payment {
  /** The notifier's payment id, which makes notifications idempotent. */
  _id: string;
  /** The username as the notifier reports it. The account or the deposit may not exist. */
  username: string;
  refId: string;
  /** Amount in rupiah. */
  amount: number;
  /** `case` means that no pending deposit matches, and a person decides. */
  status: 'completed' | 'case';
  /** The deposit that this payment credited. Null for a case. */
  depositId: string | null;
  createdAt: Date;
}

const schema = new Schema<Payment>(
  {
    _id: { type: String, required: true },
    username: { type: String, required: true },
    refId: { type: String, required: true },
    amount: { type: Money, required: true },
    status: { type: String, required: true, enum: ['completed', 'case'] },
    depositId: { type: String, default: null },
    createdAt: { type: Date, required: true },
  },
  { collection: 'payments', versionKey: false },
);
schema.index({ createdAt: -1 }, { name: 'newest' });
schema.index({ status: 1, createdAt: -1 }, { name: 'status_newest' });

export const PaymentModel = mongoose.model('Payment', schema);
export const payments = getCollection<Payment>(PaymentModel);
export const toStored = buildToStored<Payment>(['amount']);
