import mongoose, { Schema } from 'mongoose';
import { getCollection, Money } from '../../database/typed-collection.js';

/**
 * The spendable money of one account, in rupiah. Each change increments `seq`, and the journal of
 * the change stores the new value. So a lost or repeated update shows as a gap. `held` is the money
 * of settlements in progress.
 */
export interface Wallet {
  /** The account's id. */
  _id: string;
  balance: number;
  held: number;
  seq: number;
}

const schema = new Schema<Wallet>(
  {
    _id: { type: String, required: true },
    balance: { type: Money, required: true },
    held: { type: Money, required: true },
    seq: { type: Money, required: true },
  },
  { collection: 'wallets', versionKey: false },
);

export const WalletModel = mongoose.model('Wallet', schema);
export const wallets = getCollection<Wallet>(WalletModel);
