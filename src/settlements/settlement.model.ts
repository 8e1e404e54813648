import mongoose, { Schema } from 'mongoose';
import { getCollection, buildToStored, Money } from '../database/typed-collection.js';

export type SettlementStatus = 'pending' | 'processing' | 'completed' | 'failed';

/**
 * new-bank-account: nothing was paid there before. recent-change: key, secret, URL, allowlist or
 * bank account changed within a day.
 */
export type ReviewReason = 'new-bank-account' | 'recent-change';

/** A seller's withdrawal. Amounts are in rupiah. The document is its own outbox. */
export interface Settlement {
  _id: string;
  accountId: string;
  /** The seller's reference: optional, unique per account. */
  refId: string | null;
  amount: number;
  fee: number;
  netAmount: number;
  bankAccount: { bankCode: string; accountNumber: string; accountName: string };
  status: SettlementStatus;
  /** True while it waits for an operator's approval. */
  needsApproval: boolean;
  /** Set on the first settlement to a bank account if the seller had withdrawn to others before. */
  changesBankAccount?: boolean;
  /** Kept after the approval. Absent if no review was needed. */
  reviewReason?: ReviewReason;
  reason: string | null;
  /**
   * True if an operator pays it, by PAYOUT_MODE or by a claim. Stored because the setting may
   * change later. Absent until a worker or an operator takes it.
   */
  byHand?: boolean;
  /** The operator who pays it at the bank, and the time of the claim. */
  claimedBy: string | null;
  claimedAt: Date | null;
  /** The bank's reference of the payment, as entered on completion. Absent if none was given. */
  bankReference?: string;
  /** Request id of the call. Absent if it is not storable (src/shared/ids.ts). */
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
