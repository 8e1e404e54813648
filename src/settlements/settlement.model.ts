import mongoose, { Schema } from 'mongoose';
import { collectionOf } from '../database/typed-collection.js';
import { Money } from '../database/money-type.js';

export type SettlementStatus = 'pending' | 'processing' | 'completed' | 'failed';

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
  /** True while a new bank account waits for the operator (SETTLEMENT_NEW_ACCOUNT_REVIEW). */
  needsApproval: boolean;
  reason: string | null;
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
    reason: { type: String, default: null },
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
schema.index({ accountId: 1, createdAt: -1 }, { name: 'account_newest' });
schema.index({ status: 1, nextActionAt: 1 }, { name: 'status_next_action' });
schema.index(
  { accountId: 1, 'bankAccount.bankCode': 1, 'bankAccount.accountNumber': 1, status: 1 },
  { name: 'account_bank' },
);

export const SettlementModel = mongoose.model('Settlement', schema);
export const settlements = collectionOf<Settlement>(SettlementModel);
