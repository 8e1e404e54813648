import mongoose, { Schema } from 'mongoose';
import { getCollection, Money } from '../../database/typed-collection.js';

export type JournalKind =
  | 'deposit'
  | 'purchase'
  | 'success'
  | 'refund'
  | 'reversal'
  | 'seller-posting'
  | 'settlement-request'
  | 'settlement-completed'
  | 'settlement-failed'
  | 'adjustment';

/**
 * Where money is. `wallet:<account>` and `held:<account>` have a balance document; the others are sums of lines.
 */
export type LedgerAccount =
  | `wallet:${string}`
  | `held:${string}`
  | `payable:${string}`
  | 'platform:suspense'
  | 'platform:revenue'
  | 'platform:clearing'
  | 'platform:bank'
  | 'platform:adjustments';

export interface JournalLine {
  account: LedgerAccount;
  /** Rupiah; positive = more for this account. The lines of a journal sum to 0. */
  amount: number;
}

/** One movement of money. Append-only: a refund is an opposite journal, never a change to this one. */
export interface Journal {
  _id: string;
  /** Whose it is: the wallet's, and of the buyer where it moves none. */
  accountId: string;
  kind: JournalKind;
  /** What moved the money: the id of a purchase, deposit, settlement or posting. Unique with `kind`. */
  subjectId: string;
  /** The one wallet that this journal changed, or null if it moved money between platform accounts only. */
  walletId: string | null;
  walletSeq: number | null;
  balanceAfter: number | null;
  lines: JournalLine[];
  createdAt: Date;
}

const schema = new Schema<Journal>(
  {
    _id: { type: String, required: true },
    accountId: { type: String, required: true },
    kind: { type: String, required: true },
    subjectId: { type: String, required: true },
    walletId: { type: String, default: null },
    walletSeq: { type: Money, default: null },
    balanceAfter: { type: Money, default: null },
    lines: { type: [new Schema({ account: String, amount: Money }, { _id: false })], required: true },
    createdAt: { type: Date, required: true },
  },
  { collection: 'journals', versionKey: false },
);
schema.index({ accountId: 1, subjectId: 1, kind: 1 }, { unique: true, name: 'account_subject_kind_unique' });
schema.index(
  // The wallet is the account. The verification of the ledger reads in this order.
  { accountId: 1, walletId: 1, walletSeq: 1 },
  {
    unique: true,
    partialFilterExpression: { walletId: { $type: 'string' } },
    name: 'account_wallet_seq_unique',
  },
);
// For the verification of the ledger, which walks all subjects.
schema.index({ subjectId: 1 }, { name: 'subject' });
// For the verification of the ledger: adjustments have no other list of theirs.
schema.index(
  { kind: 1, subjectId: 1 },
  { partialFilterExpression: { kind: 'adjustment' }, name: 'adjustments' },
);

export const JournalModel = mongoose.model('Journal', schema);
export const journals = getCollection<Journal>(JournalModel);
