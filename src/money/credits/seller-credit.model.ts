import mongoose, { Schema } from 'mongoose';
import { getCollection, buildToStored, Money } from '../../database/typed-collection.js';

/**
 * A credit of a sale to its seller (price − commission), or a reversal (negative), that waits for
 * its posting to the seller's wallet. A job per seller posts credits, so that sales of a busy
 * seller never conflict.
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
// Only new credits, so that counting late ones reads no posted ones (src/doctor/attention.ts).
schema.index({ createdAt: 1 }, { partialFilterExpression: { status: 'new' }, name: 'new_oldest' });
// The ledger verification reads the credits of a posting together.
schema.index(
  { postingId: 1 },
  { partialFilterExpression: { postingId: { $type: 'string' } }, name: 'posting' },
);

export const SellerCreditModel = mongoose.model('SellerCredit', schema);
export const sellerCredits = getCollection<SellerCredit>(SellerCreditModel);
export const toStored = buildToStored<SellerCredit>(['amount']);
