import { env } from '../../config/env.js';
import { accountById } from '../accounts/find-account.js';
import { auditInsert, bySystem, type ChangedBy } from '../audit/record-audit.js';
import { move } from '../money/journals/new-journal.js';
import { post } from '../money/posting/post.js';
import type { Posting } from '../money/posting/posting.js';
import { now } from '../shared/clock.js';
import { ConflictError } from '../shared/errors.js';
import { logger } from '../shared/logger.js';
import { asWritten } from '../shared/say.js';
import { announceDeliveries } from '../webhooks/announce-deliveries.js';
import type { Delivery } from '../webhooks/delivery.model.js';
import { deliveryInserts } from '../webhooks/insert-deliveries.js';
import { openStatuses, requireClaim } from './claim-settlement.js';
import { enqueueSettlement } from './request-settlement.js';
import { requireSettlement } from './require-settlement.js';
import { settlementCompletedDeliveries, settlementFailedDeliveries } from './settlement-events.js';
import { settlementSweepAt } from './settlement-outbox.js';
import { settlements, type Settlement, type SettlementStatus } from './settlement.model.js';

/**
 * Takes a settlement on its way (pending -> processing). `PAYOUT_MODE=simulated` completes it at once; `manual`
 * leaves it to the operator, who claims it, pays at the bank and then completes it. Safe to run twice.
 */
export async function payOut(settlementId: string, accountId: string): Promise<void> {
  const settlement = await requireSettlement(settlementId, accountId);
  const { requestId } = settlement;
  if (settlement.status === 'pending' && !settlement.needsApproval) {
    const byHand = env.PAYOUT_MODE === 'manual';
    const nextActionAt = byHand ? null : settlementSweepAt();
    const { outcome } = await post({
      accountId,
      kind: 'settlement-claim',
      subjectId: settlementId,
      changes: [
        {
          collection: settlements.collectionName,
          id: settlementId,
          expect: { status: 'pending', needsApproval: false },
          set: { status: 'processing', nextActionAt, byHand },
        },
      ],
    });
    if (outcome === 'posted') {
      logger.info('settlement taken', { settlementId, requestId, byHand });
    }
  }
  if (env.PAYOUT_MODE === 'simulated') {
    const { status, claimedBy } = await requireSettlement(settlementId, accountId);
    // Claimed: an operator pays it, by hand.
    if (status === 'processing' && claimedBy === null) {
      await completeSettlement(settlementId, bySystem, { accountId });
      logger.info('settlement paid out', { settlementId, requestId });
    }
  }
}

/**
 * -> completed: the held money leaves the seller, net to the bank and the fee to the platform.
 * Invariant: once, by the status it had and by the unique journal. Completing twice changes nothing, the bank's reference neither.
 * @param known.accountId The seller's, where the caller knows it.
 * @throws NotFoundError. ConflictError if it has failed, if another operator has claimed it, or if an operator completes
 *   what nobody has claimed.
 */
export async function completeSettlement(
  settlementId: string,
  by: ChangedBy,
  known: { accountId?: string; bankReference?: string } = {},
): Promise<Settlement> {
  const settlement = await requireSettlement(settlementId, known.accountId);
  const { accountId, amount, netAmount, fee } = settlement;
  const finalAt = now();
  return finish(settlement, {
    by,
    claimNeeded: by.actor !== bySystem.actor,
    change: {
      status: 'completed',
      finalAt,
      ...(known.bankReference !== undefined && { bankReference: known.bankReference }),
    },
    deliveries: settlementCompletedDeliveries(await accountById(accountId), settlement, finalAt),
    movement: {
      kind: 'settlement-completed',
      wallet: { balance: 0, held: -amount },
      lines: [
        { account: `held:${accountId}`, amount: -amount },
        { account: 'platform:bank', amount: netAmount },
        { account: 'platform:revenue', amount: fee },
      ],
    },
  });
}

/**
 * -> failed: the held money returns to the balance. Failing twice changes nothing.
 * @param reason In words for the seller.
 * @throws NotFoundError. ConflictError if it was completed, or if another operator has claimed it.
 */
export async function failSettlement(
  settlementId: string,
  reason: string,
  by: ChangedBy,
): Promise<Settlement> {
  const settlement = await requireSettlement(settlementId);
  const { accountId, amount } = settlement;
  return finish(settlement, {
    by,
    claimNeeded: false,
    change: { status: 'failed', reason, finalAt: now() },
    deliveries: settlementFailedDeliveries(await accountById(accountId), settlement, reason),
    movement: {
      kind: 'settlement-failed',
      wallet: { balance: amount, held: -amount },
      lines: move(amount, { from: `held:${accountId}`, to: `wallet:${accountId}` }),
    },
  });
}

/**
 * Lets a settlement that waits for the operator go on (bank-account-use.ts).
 * @throws NotFoundError. ConflictError if it does not wait for approval.
 */
export async function approveSettlement(settlementId: string, by: ChangedBy): Promise<Settlement> {
  const settlement = await requireSettlement(settlementId);
  const approval = { needsApproval: false, nextActionAt: settlementSweepAt() };
  const { outcome } = await post(approvalPosting(settlement, approval, by));
  if (outcome !== 'posted') {
    const { status } = await requireSettlement(settlementId);
    throw new ConflictError(
      asWritten(`Settlement ${settlementId} does not wait for approval (any more): it is ${status}.`),
    );
  }
  const approved = { ...settlement, ...approval };
  await enqueueSettlement(approved);
  return approved;
}

function approvalPosting(
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
    inserts: [auditInsert({ ...by, action: 'settlement.approve', subject: { kind: 'settlement', id: _id } })],
  };
}

interface Finish {
  by: ChangedBy;
  claimNeeded: boolean;
  change: Pick<Settlement, 'status' | 'finalAt'> & Partial<Pick<Settlement, 'reason' | 'bankReference'>>;
  deliveries: Delivery[];
  movement: Pick<Posting, 'kind' | 'wallet' | 'lines'>;
}

/** Nobody has to look at it any more. */
const ended = { needsApproval: false, nextActionAt: null };

async function finish(before: Settlement, ending: Finish): Promise<Settlement> {
  const { by, change, deliveries, movement } = ending;
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
        expect: { status: { $in: openStatuses }, claimedBy },
        set: { ...change, ...ended },
      },
    ],
    inserts: [
      auditInsert({
        ...by,
        action: `settlement.${change.status}`,
        subject: { kind: 'settlement', id: _id },
        before: { status },
        after: {
          status: change.status,
          ...(change.bankReference !== undefined && { bankReference: change.bankReference }),
        },
      }),
      ...deliveryInserts(deliveries),
    ],
  });
  if (result.outcome === 'posted') {
    await announceDeliveries(deliveries);
    return { ...before, ...change, ...ended };
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
