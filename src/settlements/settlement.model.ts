import mongoose, { Schema } from 'mongoose';
import { getCollection, buildToStored, Money } from '../database/typed-collection.js';

export type SettlementStatus = 'pending' | 'processing' | 'completed' | 'failed';

/**
 * Reasons for a review.
 *
 * - new-bank-account: no settlement has been paid to this bank account.
 * - recent-change: key, secret, URL, allowlist or bank account changed within the last day.
 */
export type ReviewReason = 'new-bank-account' | 'recent-change';

/**
 * A seller's withdrawal. Amounts are in rupiah. The document is its own outbox: the sweep handles
 * it at `nextActionAt`.
 */
export interface Settlement {
  _id: string;
  accountId: string;
  /** The seller's reference, unique per account. Null if the seller gave none. */
  refId: string | null;
  amount: number;
  fee: number;
  netAmount: number;
  bankAccount: { bankCode: string; accountNumber: string; accountName: string };
  status: SettlementStatus;
  /** True while the settlement waits for an operator's approval. */
  needsApproval: boolean;
  /**
   * Set on the first settlement to a bank account if the seller has withdrawn to other bank
   * accounts before.
   */
  changesBankAccount?: boolean;
  /** The reason of the review, which stays after the approval. Absent if no review was needed. */
  reviewReason?: ReviewReason;
  reason: string | null;
  /**
   * True if an operator pays the settlement, because of PAYOUT_MODE or a claim. It is stored
   * because the setting may change later. Absent until a worker or an operator takes the
   * settlement.
   */
  byHand?: boolean;
  /** The operator who pays the settlement at the bank. Null if unclaimed. */
  claimedBy: string | null;
  /** Time of the claim. Null if unclaimed. */
  claimedAt: Date | null;
  /**
   * The bank's reference of the payment, as entered on completion. Absent if none was entered. It
   * counts only in a completed settlement: a refused completion leaves its reference here.
   */
  bankReference?: string;
  /** Request id of the HTTP call. Absent if the id may not be stored (src/shared/ids.ts). */
  requestId?: string;
  estimatedCompletion: Date;
  /** Incremented each time that the sweep adds the job again. */
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
schema.index(
  { bankReference: 1 },
  { partialFilterExpression: { bankReference: { $type: 'string' } }, name: 'bank_reference' },
);

export const SettlementModel = mongoose.model('Settlement', schema);
export const settlements = getCollection<Settlement>(SettlementModel);
export const toStored = buildToStored<Settlement>(['amount', 'fee', 'netAmount']);
