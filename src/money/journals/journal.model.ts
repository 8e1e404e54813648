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
 * A ledger account. `wallet:<account>` and `held:<account>` have a balance document. The balance of
 * any other ledger account is the sum of its lines.
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
  /**
   * Amount in rupiah. A positive amount increases this ledger account. The lines of a journal sum
   * to 0.
   */
  amount: number;
}

/** One movement of money. Journals are never changed: a refund is an opposite journal. */
export interface Journal {
  _id: string;
  /** The wallet's account, or the buyer if the journal changes no wallet. */
  accountId: string;
  kind: JournalKind;
  /**
   * Id of the purchase, deposit, settlement or posting that moved the money. The pair of this id
   * and `kind` is unique.
   */
  subjectId: string;
  /**
   * The only wallet that this journal changed. Null if the money moved only between other ledger
   * accounts.
   */
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
  // The wallet id equals the account id. The ledger verification reads journals in this order.
  { accountId: 1, walletId: 1, walletSeq: 1 },
  {
    unique: true,
    partialFilterExpression: { walletId: { $type: 'string' } },
    name: 'account_wallet_seq_unique',
  },
);
// The ledger verification reads the journals of every subject.
schema.index({ subjectId: 1 }, { name: 'subject' });
// The ledger verification lists adjustments with this index, because adjustments have no collection
// of their own.
schema.index(
  { kind: 1, subjectId: 1 },
  { partialFilterExpression: { kind: 'adjustment' }, name: 'adjustments' },
);

export const JournalModel = mongoose.model('Journal', schema);
export const journals = getCollection<Journal>(JournalModel);
