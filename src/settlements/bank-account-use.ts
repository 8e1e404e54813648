import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import { AccountModel } from '../accounts/account.model.js';
import { nowMs } from '../shared/clock.js';
import { SettlementModel, type ReviewReason, type Settlement } from './settlement.model.js';

export interface BankAccountAssessment {
  /** The seller has withdrawn to other accounts and never to this one. */
  isChange: boolean;
  /** Why an operator has to look at the settlement first; null: nobody has to. */
  review: ReviewReason | null;
}

/**
 * What is known of the bank account that a seller wants to be paid at. Whoever has taken over an account changes its
 * key, its URL or its allowlist first and withdraws then, little at first: so for a day after such a change, and after the first
 * settlement to another bank account than before, an operator looks at what is withdrawn; and at that account until one was paid there.
 */
export async function assessBankAccount(
  accountId: string,
  { bankCode, accountNumber }: Settlement['bankAccount'],
): Promise<BankAccountAssessment> {
  const here = {
    accountId,
    'bankAccount.bankCode': bankCode,
    'bankAccount.accountNumber': accountNumber,
  };
  const elsewhere = {
    accountId,
    $or: [
      { 'bankAccount.bankCode': { $ne: bankCode } },
      { 'bankAccount.accountNumber': { $ne: accountNumber } },
    ],
  };
  const guardedFrom = new Date(nowMs() - limits.settlementGuardMs);
  // Not from memory: the change may be of this very second.
  const [account, paid, asked, other, changed] = await Promise.all([
    AccountModel.findById(accountId, { guardedSince: 1 }).lean(),
    SettlementModel.exists({ ...here, status: 'completed' }),
    SettlementModel.exists(here),
    SettlementModel.exists(elsewhere),
    SettlementModel.exists({ accountId, createdAt: { $gt: guardedFrom }, changesBankAccount: true }),
  ]);
  const isGuarded = (account?.guardedSince ?? new Date(0)) > guardedFrom;
  const ofNew = isGuarded || paid !== null ? null : getNewAccountReview(other !== null);
  return {
    isChange: asked === null && other !== null,
    review: ofNew ?? (isGuarded || changed !== null ? 'recent-change' : null),
  };
}

function getNewAccountReview(hasOthers: boolean): ReviewReason | null {
  return hasOthers || env.SETTLEMENT_NEW_ACCOUNT_REVIEW ? 'new-bank-account' : null;
}
