import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import { AccountModel, type Account } from '../accounts/account.model.js';
import { nowMs, now } from '../shared/clock.js';
import {
  SettlementModel,
  type ReviewReason,
  type Settlement,
  settlements,
  toStored,
} from './settlement.model.js';
import { findConfirmed } from '../database/find-confirmed.js';
import { getNextBusinessDayAt } from '../shared/business-time.js';
import { ConflictError, DependencyError, InsufficientBalanceError } from '../shared/errors.js';
import { getStorableRequestId, newId } from '../shared/ids.js';
import { say } from '../shared/say.js';
import { tryToAddJob } from '../jobs/add-job.js';
import { postSellerCredits } from '../money/credits/seller-credits.js';
import { buildMovementLines } from '../money/journals/new-journal.js';
import { post, postWithoutKey } from '../money/posting/post.js';
import type { Posting, PostingResult } from '../money/posting/posting.js';
import { buildConfigUpdatedDeliveries } from '../webhooks/account-events.js';
import { announceDeliveries } from '../webhooks/deliver/delivery-jobs.js';
import type { Delivery } from '../webhooks/deliver/delivery.model.js';
import { buildDeliveryInserts } from '../webhooks/new-delivery.js';
import { payOutJob, getSettlementSweepTime } from './settlement-jobs.js';
import { isRepeatOfUnknown, noteUnknownRequest } from './unknown-requests.js';

export interface BankAccountAssessment {
  /** True if the seller has withdrawn to other bank accounts, but never to this one. */
  isChange: boolean;
  /** Why an operator must review the settlement first. Null if no review is needed. */
  review: ReviewReason | null;
}

/**
 * Assesses the bank account of a withdrawal. An attacker who takes over an account changes its key,
 * URL or allowlist first, then withdraws small amounts.
 *
 * So withdrawals are reviewed for a day after such a change, and for a day after the first
 * settlement to a different bank account. Withdrawals to a new bank account are reviewed until the
 * first of them is paid.
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
  // Do not read from a cache, because the change may have happened within the last second.
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

export interface SettlementRequest {
  account: Account;
  /** Amount in rupiah. */
  amount: number;
  bankAccount: Settlement['bankAccount'];
  refId: string | null;
  /** Request id of the HTTP call. */
  requestId?: string;
}

const payoutHour = 17;

/**
 * Requests a withdrawal (docs/reference/api/settlements.md). The amount leaves the available
 * balance at once and is held until the payout succeeds or fails.
 *
 * Open seller credits are posted first, so that reversed sales cannot be withdrawn. If the bank
 * account changed, the webhook URL is notified and the settlement waits for an operator.
 *
 * Invariants: each pair of account and ref_id has one settlement. The held money rises by exactly
 * the amount by which the balance falls.
 *
 * @throws InsufficientBalanceError (402/01) if the balance is too low.
 * @throws ConflictError (409/01) if another settlement has this ref_id, or if a request without
 *   ref_id repeats one whose outcome is unknown.
 */
export async function requestSettlement(
  request: SettlementRequest,
): Promise<{ settlement: Settlement; created: boolean }> {
  const known = await findByRef(request);
  if (known) {
    return { settlement: requireSameSettlement(known, request), created: false };
  }
  const { account, refId, amount, bankAccount } = request;
  if (refId === null && (await isRepeatOfUnknown({ accountId: account._id, amount, bankAccount }))) {
    throw new ConflictError(say('settlementMayBeRepeated'));
  }
  await postSellerCredits(account._id);
  const use = await assessBankAccount(request.account._id, request.bankAccount);
  const settlement = buildSettlement(request, use);
  const notices = use.isChange ? buildConfigUpdatedDeliveries(request.account, ['bank_account']) : [];
  const result = await postRequest(settlement, notices);
  switch (result.outcome) {
    case 'posted':
      await Promise.all([enqueueSettlement(settlement), announceDeliveries(notices)]);
      return { settlement, created: true };
    case 'duplicate':
      return { settlement: requireSameSettlement(result.stands as Settlement, request), created: false };
    case 'insufficient':
      throw new InsufficientBalanceError(
        { balance: result.balance, price: request.amount },
        'insufficientForSettlement',
      );
    case 'stale':
    case 'too-large':
      throw new Error('Unexpected posting result for a settlement');
  }
}

/** Adds the payout job after the commit. If Redis is unavailable, the sweep adds the job later. */
export async function enqueueSettlement(settlement: Settlement): Promise<void> {
  const { _id, accountId, needsApproval, requestId } = settlement;
  if (!needsApproval) {
    await tryToAddJob(payOutJob, { settlementId: _id, accountId }, { requestId });
  }
}

function buildSettlement(
  request: SettlementRequest,
  { review, isChange }: BankAccountAssessment,
): Settlement {
  const { account, amount, bankAccount, refId } = request;
  const needsApproval = review !== null;
  const requestId = getStorableRequestId(request.requestId);
  return {
    // Retries of the posting reuse this id, so they create the same settlement.
    _id: newId(),
    accountId: account._id,
    refId,
    amount,
    fee: env.SETTLEMENT_FEE,
    netAmount: amount - env.SETTLEMENT_FEE,
    bankAccount,
    status: 'pending',
    needsApproval,
    ...(review !== null && { reviewReason: review }),
    ...(isChange && { changesBankAccount: true }),
    reason: null,
    claimedBy: null,
    claimedAt: null,
    ...(requestId !== undefined && { requestId }),
    estimatedCompletion: getNextBusinessDayAt(payoutHour),
    epoch: 0,
    nextActionAt: needsApproval ? null : getSettlementSweepTime(),
    createdAt: now(),
    finalAt: null,
  };
}

function postRequest(settlement: Settlement, notices: Delivery[]): Promise<PostingResult> {
  const { _id, accountId, amount, refId } = settlement;
  const posting: Posting = {
    accountId,
    kind: 'settlement-request',
    subjectId: _id,
    wallet: { balance: -amount, held: amount },
    lines: buildMovementLines(amount, { from: `wallet:${accountId}`, to: `held:${accountId}` }),
    inserts: [
      {
        collection: settlements.collectionName,
        document: toStored(settlement),
        ...(refId !== null && { key: { accountId, refId } }),
      },
      ...buildDeliveryInserts(notices),
    ],
  };
  return refId === null ? postUnrepeatable(posting, settlement) : post(posting);
}

async function postUnrepeatable(posting: Posting, settlement: Settlement): Promise<PostingResult> {
  try {
    return await postWithoutKey(posting, say('settlementUnknown'));
  } catch (error) {
    if (error instanceof DependencyError) {
      await noteUnknownRequest(settlement);
    }
    throw error;
  }
}

async function findByRef({ account, refId }: SettlementRequest): Promise<Settlement | undefined> {
  if (refId === null) {
    return undefined;
  }
  // Without `$type`, MongoDB cannot use the partial index of references.
  const filter = { accountId: account._id, refId: { $eq: refId, $type: 'string' as const } };
  const [known] = await findConfirmed(settlements, filter);
  return known;
}

/** @throws ConflictError (409/01) if another settlement has this ref_id. */
function requireSameSettlement(settlement: Settlement, request: SettlementRequest): Settlement {
  const { bankCode, accountNumber, accountName } = request.bankAccount;
  const same =
    settlement.amount === request.amount &&
    settlement.bankAccount.bankCode === bankCode &&
    settlement.bankAccount.accountNumber === accountNumber &&
    settlement.bankAccount.accountName === accountName;
  if (!same) {
    throw new ConflictError(say('settlementRefTaken', { ref: settlement.refId ?? '' }), {
      reason: 'ref_id_conflict',
    });
  }
  return settlement;
}
