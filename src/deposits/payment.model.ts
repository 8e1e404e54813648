import mongoose, { Schema } from 'mongoose';
import { getCollection, buildToStored, Money } from '../database/typed-collection.js';

/** Money that the bank or a payment gateway says has arrived (docs/reference/api/deposits.md#payment-notifications). */
export interface Payment {
  /** The notifier's own id: what makes a repeat a repeat. */
  _id: string;
  /** As they were told; there may be no such account or deposit. */
  username: string;
  refId: string;
  /** Rupiah. */
  amount: number;
  /** `case`: no pending deposit fits, and a person decides. */
  status: 'completed' | 'case';
  /** The deposit that it has credited. */
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
