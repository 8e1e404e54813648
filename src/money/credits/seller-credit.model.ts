import mongoose, { Schema } from 'mongoose';
import { getCollection, buildToStored, Money } from '../../database/typed-collection.js';

/**
 * A credit to the seller of a sale (price − commission), or a negative credit for a reversal. It
 * waits until a job posts it to the seller's wallet. One job per seller posts all credits, so that
 * sales of a busy seller never conflict.
 */
export interface SellerCredit {
  /** `<purchase>` or `<purchase>-reversal` */
  _id: string;
  /** The buyer. */
  accountId: string;
  sellerId: string;
  transactionId: string;
  amount: number;
  status: 'new' | 'posted';
  postingId: string | null;
  createdAt: Date;
}

const schema = new Schema<SellerCredit>(
  {
    _id: { type: String, required: true },
    accountId: { type: String, required: true },
    sellerId: { type: String, required: true },
    transactionId: { type: String, required: true },
    amount: { type: Money, required: true },
    status: { type: String, required: true },
    postingId: { type: String, default: null },
    createdAt: { type: Date, required: true },
  },
  { collection: 'sellerCredits', versionKey: false },
);
schema.index({ accountId: 1, transactionId: 1 }, { name: 'account_transaction' });
schema.index({ status: 1, sellerId: 1, createdAt: 1 }, { name: 'status_seller' });
// Contains only new credits, so that counting late credits does not read posted ones
// (src/doctor/attention.ts).
schema.index({ createdAt: 1 }, { partialFilterExpression: { status: 'new' }, name: 'new_oldest' });
// The ledger verification reads all credits of a posting.
schema.index(
  { postingId: 1 },
  { partialFilterExpression: { postingId: { $type: 'string' } }, name: 'posting' },
);

export const SellerCreditModel = mongoose.model('SellerCredit', schema);
export const sellerCredits = getCollection<SellerCredit>(SellerCreditModel);
export const toStored = buildToStored<SellerCredit>(['amount']);
