import { env } from '../../config/env.js';
import { getExistingAccount } from '../accounts/find-account.js';
import { buildAuditEntryInsert, bySystem, type ChangedBy } from '../audit/record-audit.js';
import { buildMovementLines } from '../money/journals/new-journal.js';
import { post } from '../money/posting/post.js';
import type { Posting } from '../money/posting/posting.js';
import { now } from '../shared/clock.js';
import { ConflictError } from '../shared/errors.js';
import { logger } from '../shared/logger.js';
import { asWritten } from '../shared/say.js';
import { announceDeliveries } from '../webhooks/deliver/delivery-jobs.js';
import type { Delivery } from '../webhooks/deliver/delivery.model.js';
import { buildDeliveryInserts } from '../webhooks/new-delivery.js';
import { requireSameReference, reserveBankReference } from './bank-reference.js';
import { openStatuses, requireClaim } from './claim-settlement.js';
import { enqueueSettlement } from './request-settlement.js';
import { requireSettlement } from './find-settlement.js';
import { buildSettlementCompletedDeliveries, buildSettlementFailedDeliveries } from './settlement-events.js';
import { getSettlementSweepTime } from './settlement-jobs.js';
import { settlements, type Settlement, type SettlementStatus } from './settlement.model.js';
import { requireWalletNotBelowZero, WalletBelowZeroError } from './wallet-below-zero.js';

/**
 * Starts a payout (pending -> processing). With `PAYOUT_MODE=simulated`, this also completes the
 * settlement. With `manual`, an operator claims the settlement, pays at the bank and completes it.
 * An operator also decides if the seller's wallet is below zero. Safe to run twice.
 */
export async function payOut(settlementId: string, accountId: string): Promise<void> {
  const settlement = await requireSettlement(settlementId, accountId);
  const { requestId } = settlement;
  if (settlement.status === 'pending' && !settlement.needsApproval) {
    const byHand = env.PAYOUT_MODE === 'manual';
    if (await startPayout(settlement, { from: 'pending', byHand })) {
      logger.info('settlement payout started', { settlementId, requestId, byHand });
    }
  }
  if (env.PAYOUT_MODE === 'simulated') {
    const { status, claimedBy } = await requireSettlement(settlementId, accountId);
    // An operator pays a claimed settlement by hand.
    if (status === 'processing' && claimedBy === null) {
      await completeUnlessBelowZero(settlement);
    }
  }
}

async function startPayout(
  { _id, accountId }: Settlement,
  { from, byHand }: { from: SettlementStatus; byHand: boolean },
): Promise<boolean> {
  const nextActionAt = byHand ? null : getSettlementSweepTime();
  const { outcome } = await post({
    accountId,
    kind: 'settlement-claim',
    subjectId: _id,
    changes: [
      {
        collection: settlements.collectionName,
        id: _id,
        expect: { status: from, needsApproval: false, claimedBy: null },
        set: { status: 'processing', nextActionAt, byHand },
      },
    ],
  });
  return outcome === 'posted';
}

async function completeUnlessBelowZero(settlement: Settlement): Promise<void> {
  const { _id, accountId, requestId } = settlement;
  try {
    await completeSettlement(_id, bySystem, { accountId });
    logger.info('settlement paid out', { settlementId: _id, requestId });
  } catch (error) {
    if (!(error instanceof WalletBelowZeroError)) {
      throw error;
    }
    await startPayout(settlement, { from: 'processing', byHand: true });
    logger.warn('settlement left to operators: wallet below zero', { settlementId: _id, requestId });
  }
}

/**
 * Completes a settlement. The held money leaves the seller: the net amount goes to the bank and the
 * fee to the platform. Invariant: a settlement is completed once. Its status and the unique journal
 * enforce this. Completing twice changes nothing, including the bank's reference.
 *
 * @param known.accountId The seller's account, if the caller knows it.
 * @param known.sharedReference True if one transfer paid several settlements.
 * @throws NotFoundError if there is no such settlement.
 * @throws ConflictError if it has failed, if another operator has claimed it, if an operator
 *   completes an unclaimed settlement, if it was completed with another bank reference, or if
 *   another settlement has this reference and it is not confirmed as shared.
 * @throws WalletBelowZeroError if the seller owes the platform money.
 */
export async function completeSettlement(
  settlementId: string,
  by: ChangedBy,
  known: { accountId?: string; bankReference?: string; sharedReference?: boolean } = {},
): Promise<Settlement> {
  const settlement = await requireSettlement(settlementId, known.accountId);
  const { accountId, amount, netAmount, fee } = settlement;
  const { bankReference } = known;
  const claimNeeded = by.actor !== bySystem.actor;
  let sharedWith: string[] = [];
  if (openStatuses.includes(settlement.status)) {
    requireClaim(settlement, by, { claimNeeded });
    await requireWalletNotBelowZero(settlement);
    if (bankReference !== undefined) {
      const shared = known.sharedReference === true;
      sharedWith = await reserveBankReference(settlement, bankReference, { shared });
    }
  }
  const finalAt = now();
  const completed = await finishSettlement(settlement, {
    by,
    claimNeeded,
    change: { status: 'completed', finalAt, ...(bankReference !== undefined && { bankReference }) },
    sharedWith,
    deliveries: buildSettlementCompletedDeliveries(await getExistingAccount(accountId), settlement, finalAt),
    movement: {
      kind: 'settlement-completed',
      // The wallet may have fallen below zero since the check above.
      wallet: { balance: 0, held: -amount, needsNoDebt: true },
      lines: [
        { account: `held:${accountId}`, amount: -amount },
        { account: 'platform:bank', amount: netAmount },
        { account: 'platform:revenue', amount: fee },
      ],
    },
  });
  await requireSameReference(completed, by, bankReference);
  return completed;
}

/**
 * Fails a settlement. The held money returns to the balance. Failing twice changes nothing.
 * @param reason The reason, as shown to the seller.
 * @throws NotFoundError if there is no such settlement.
 * @throws ConflictError if it was completed, or if another operator has claimed it.
 */
export async function failSettlement(
  settlementId: string,
  reason: string,
  by: ChangedBy,
): Promise<Settlement> {
  const settlement = await requireSettlement(settlementId);
  const { accountId, amount } = settlement;
  return finishSettlement(settlement, {
    by,
    claimNeeded: false,
    change: { status: 'failed', reason, finalAt: now() },
    deliveries: buildSettlementFailedDeliveries(await getExistingAccount(accountId), settlement, reason),
    movement: {
      kind: 'settlement-failed',
      wallet: { balance: amount, held: -amount },
      lines: buildMovementLines(amount, { from: `held:${accountId}`, to: `wallet:${accountId}` }),
    },
  });
}

/**
 * Approves a settlement that waits for review (`assessBankAccount`), and enqueues its payout.
 * @throws NotFoundError if there is no such settlement.
 * @throws ConflictError if it does not wait for approval.
 * @throws WalletBelowZeroError if the seller owes the platform money.
 */
export async function approveSettlement(settlementId: string, by: ChangedBy): Promise<Settlement> {
  const settlement = await requireSettlement(settlementId);
  if (settlement.status === 'pending' && settlement.needsApproval) {
    await requireWalletNotBelowZero(settlement);
  }
  const approval = { needsApproval: false, nextActionAt: getSettlementSweepTime() };
  const { outcome } = await post(buildApprovalPosting(settlement, approval, by));
  if (outcome !== 'posted') {
    const { status } = await requireSettlement(settlementId);
    throw new ConflictError(
      asWritten(`Settlement ${settlementId} does not wait for approval: it is ${status}.`),
    );
  }
  const approved = { ...settlement, ...approval };
  await enqueueSettlement(approved);
  return approved;
}

function buildApprovalPosting(
  { _id, accountId }: Settlement,
  approval: Pick<Settlement, 'needsApproval' | 'nextActionAt'>,
  by: ChangedBy,
): Posting {
  return {
    accountId,
    kind: 'settlement-approval',
    subjectId: _id,
    changes: [
      {
        collection: settlements.collectionName,
        id: _id,
        expect: { status: 'pending', needsApproval: true },
        set: approval,
      },
    ],
    inserts: [
      buildAuditEntryInsert({
        ...by,
        action: 'settlement.approve',
        subject: { kind: 'settlement', id: _id },
      }),
    ],
  };
}

interface SettlementEnding {
  by: ChangedBy;
  claimNeeded: boolean;
  change: Pick<Settlement, 'status' | 'finalAt'> & Partial<Pick<Settlement, 'reason' | 'bankReference'>>;
  /** Other settlements that the same transfer paid, as the operator has confirmed. */
  sharedWith?: string[];
  deliveries: Delivery[];
  movement: Pick<Posting, 'kind' | 'wallet' | 'lines'>;
}

const noFurtherAction = { needsApproval: false, nextActionAt: null };

async function finishSettlement(before: Settlement, ending: SettlementEnding): Promise<Settlement> {
  const { by, change, sharedWith = [], deliveries, movement } = ending;
  const { _id, accountId, status, claimedBy } = before;
  if (!openStatuses.includes(status)) {
    return requireStatus(before, change.status);
  }
  requireClaim(before, by, ending);
  const result = await post({
    ...movement,
    accountId,
    subjectId: _id,
    changes: [
      {
        collection: settlements.collectionName,
        id: _id,
        expect: {
          status: { $in: openStatuses },
          claimedBy,
          // A concurrent call with another reference may have replaced the checked one.
          ...(change.bankReference !== undefined && { bankReference: change.bankReference }),
        },
        set: { ...change, ...noFurtherAction },
      },
    ],
    inserts: [
      buildAuditEntryInsert({
        ...by,
        action: `settlement.${change.status}`,
        subject: { kind: 'settlement', id: _id },
        before: { status },
        after: {
          status: change.status,
          ...(change.bankReference !== undefined && { bankReference: change.bankReference }),
          ...(sharedWith.length > 0 && { sharedWith }),
        },
      }),
      ...buildDeliveryInserts(deliveries),
    ],
  });
  if (result.outcome === 'posted') {
    await announceDeliveries(deliveries);
    return { ...before, ...change, ...noFurtherAction };
  }
  if (result.outcome === 'insufficient' && result.balance < 0) {
    throw new WalletBelowZeroError(before, result.balance);
  }
  return requireStatus(await requireSettlement(_id, accountId), change.status);
}

function requireStatus(settlement: Settlement, wanted: SettlementStatus): Settlement {
  const { _id, status } = settlement;
  if (openStatuses.includes(status)) {
    throw new ConflictError(asWritten(`Settlement ${_id} has just changed. Look at it again.`));
  }
  if (status !== wanted) {
    throw new ConflictError(asWritten(`Settlement ${_id} is ${status}; it cannot become ${wanted}.`));
  }
  return settlement;
}
