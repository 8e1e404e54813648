import mongoose, { Schema } from 'mongoose';
import { getCollection, buildToStored, Money } from '../database/typed-collection.js';

export type SettlementStatus = 'pending' | 'processing' | 'completed' | 'failed';

/** new-bank-account: nothing was paid there before. recent-change: of key, secret, URL or allowlist, within a day. */
export type ReviewReason = 'new-bank-account' | 'recent-change';

/** A seller's withdrawal. Rupiah. It is its own outbox, as a purchase is. */
export interface Settlement {
  _id: string;
  accountId: string;
  /** Optional, unique per account. */
  refId: string | null;
  amount: number;
  fee: number;
  netAmount: number;
  bankAccount: { bankCode: string; accountNumber: string; accountName: string };
  status: SettlementStatus;
  /** True while it waits for the operator; `reviewReason` says why. */
  needsApproval: boolean;
  /** It was the first to its bank account, of a seller that had withdrawn to others. */
  changesBankAccount?: boolean;
  /** Kept after the approval. Absent where nobody had to look. */
  reviewReason?: ReviewReason;
  reason: string | null;
  /**
   * An operator pays it, as PAYOUT_MODE said when a worker took it, or because one has claimed it: whoever looks at it
   * later may run with another setting. Absent until then.
   */
  byHand?: boolean;
  /** The operator (an actor of the audit log) who pays it at the bank, and since when. */
  claimedBy: string | null;
  claimedAt: Date | null;
  /** What the bank calls the payment, as whoever completed it said. Absent where nobody said one. */
  bankReference?: string;
  /** Of the call that asked for it. Absent where it is not kept (src/shared/ids.ts). */
  requestId?: string;
  estimatedCompletion: Date;
  /** Raised whenever a job is added again. */
  epoch: number;
  nextActionAt: Date | null;
  createdAt: Date;
  finalAt: Date | null;
}

const schema = new Schema<Settlement>(
  {
    _id: { type: String, required: true },
    accountId: { type: String, required: true },
    refId: { type: String, default: null },
    amount: { type: Money, required: true },
    fee: { type: Money, required: true },
    netAmount: { type: Money, required: true },
    bankAccount: {
      type: new Schema({ bankCode: String, accountNumber: String, accountName: String }, { _id: false }),
      required: true,
    },
    status: { type: String, required: true },
    needsApproval: { type: Boolean, required: true },
    changesBankAccount: { type: Boolean },
    reviewReason: { type: String },
    reason: { type: String, default: null },
    byHand: { type: Boolean },
    claimedBy: { type: String, default: null },
    claimedAt: { type: Date, default: null },
    bankReference: { type: String },
    requestId: { type: String },
    estimatedCompletion: { type: Date, required: true },
    epoch: { type: Number, required: true },
    nextActionAt: { type: Date, default: null },
    createdAt: { type: Date, required: true },
    finalAt: { type: Date, default: null },
  },
  { collection: 'settlements', versionKey: false },
);
schema.index(
  { accountId: 1, refId: 1 },
  { unique: true, partialFilterExpression: { refId: { $type: 'string' } }, name: 'account_ref_unique' },
);
schema.index({ accountId: 1, createdAt: -1, _id: -1 }, { name: 'account_newest_id' });
schema.index({ status: 1, nextActionAt: 1 }, { name: 'status_next_action' });
schema.index(
  { accountId: 1, 'bankAccount.bankCode': 1, 'bankAccount.accountNumber': 1, status: 1 },
  { name: 'account_bank' },
);

export const SettlementModel = mongoose.model('Settlement', schema);
export const settlements = getCollection<Settlement>(SettlementModel);
export const toStored = buildToStored<Settlement>(['amount', 'fee', 'netAmount']);
