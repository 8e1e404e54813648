import { env } from '../../config/env.js';
import { accountById } from '../accounts/find-account.js';
import { bySystem, recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { now } from '../shared/clock.js';
import { NotFoundError } from '../shared/errors.js';
import { inTransaction, type Session } from '../database/mongo.js';
import { changeWallet } from '../money/wallets/change-wallet.js';
import { move } from '../money/journals/insert-journals.js';
import { settlementCompletedDeliveries, settlementFailedDeliveries } from './settlement-events.js';
import { announceDeliveries } from '../webhooks/announce-deliveries.js';
import type { Delivery } from '../webhooks/delivery.model.js';
import { insertDeliveries } from '../webhooks/insert-deliveries.js';
import { enqueueSettlement, settlementSweepAt } from './request-settlement.js';
import { SettlementModel, type Settlement } from './settlement.model.js';

/**
 * Takes a settlement on its way (pending -> processing). `PAYOUT_MODE=simulated` completes it at once; `manual`
 * leaves it to the operator, who pays at the bank and then completes it. Safe to run twice.
 */
export async function payOut(settlementId: string): Promise<void> {
  const claimed = await SettlementModel.updateOne(
    { _id: settlementId, status: 'pending', needsApproval: false },
    {
      $set: { status: 'processing', nextActionAt: env.PAYOUT_MODE === 'manual' ? null : settlementSweepAt() },
    },
  );
  if (env.PAYOUT_MODE === 'simulated') {
    const settlement = await SettlementModel.findById(settlementId).lean<Settlement>();
    if (claimed.matchedCount === 1 || settlement?.status === 'processing') {
      await completeSettlement(settlementId, bySystem);
    }
  }
}

/**
 * processing -> completed: the held money leaves the seller, net to the bank and the fee to the platform.
 * Invariant: once, by the status it had and by the unique journal. Completing twice changes nothing.
 */
export async function completeSettlement(settlementId: string, by: ChangedBy): Promise<Settlement> {
  return finish(settlementId, by, async (session, settlement) => {
    const at = now();
    await changeWallet(session, {
      walletId: settlement.accountId,
      balanceDelta: 0,
      heldDelta: -settlement.amount,
      kind: 'settlement-completed',
      subjectId: settlement._id,
      lines: [
        { account: `held:${settlement.accountId}`, amount: -settlement.amount },
        { account: 'platform:bank', amount: settlement.netAmount },
        { account: 'platform:revenue', amount: settlement.fee },
      ],
    });
    const seller = await accountById(settlement.accountId);
    return {
      change: { status: 'completed', finalAt: at },
      deliveries: settlementCompletedDeliveries(seller, settlement, at),
    };
  });
}

/** -> failed: the held money returns to the balance. @param reason In words for the seller. */
export async function failSettlement(
  settlementId: string,
  reason: string,
  by: ChangedBy,
): Promise<Settlement> {
  return finish(settlementId, by, async (session, settlement) => {
    await changeWallet(session, {
      walletId: settlement.accountId,
      balanceDelta: settlement.amount,
      heldDelta: -settlement.amount,
      kind: 'settlement-failed',
      subjectId: settlement._id,
      lines: move(settlement.amount, {
        from: `held:${settlement.accountId}`,
        to: `wallet:${settlement.accountId}`,
      }),
    });
    const seller = await accountById(settlement.accountId);
    return {
      change: { status: 'failed', reason, finalAt: now() },
      deliveries: settlementFailedDeliveries(seller, settlement, reason),
    };
  });
}

/** Lets a settlement to a new bank account go on (SETTLEMENT_NEW_ACCOUNT_REVIEW). */
export async function approveSettlement(settlementId: string, by: ChangedBy): Promise<Settlement> {
  const approved = await inTransaction(async (session) => {
    const settlement = await SettlementModel.findOneAndUpdate(
      { _id: settlementId, status: 'pending', needsApproval: true },
      { $set: { needsApproval: false, nextActionAt: settlementSweepAt() } },
      { session, returnDocument: 'after' },
    ).lean<Settlement>();
    if (!settlement) {
      throw new NotFoundError(`No settlement ${settlementId} waits for approval.`);
    }
    await recordAudit(session, {
      ...by,
      action: 'settlement.approve',
      subject: { kind: 'settlement', id: settlementId },
    });
    return settlement;
  });
  await enqueueSettlement(approved);
  return approved;
}

interface Finish {
  change: Pick<Settlement, 'status' | 'finalAt'> & Partial<Pick<Settlement, 'reason'>>;
  deliveries: Delivery[];
}

async function finish(
  settlementId: string,
  by: ChangedBy,
  write: (session: Session, settlement: Settlement) => Promise<Finish>,
): Promise<Settlement> {
  const { settlement, deliveries } = await inTransaction(async (session) => {
    const before = await SettlementModel.findById(settlementId).session(session).lean<Settlement>();
    if (!before) {
      throw new NotFoundError(`There is no settlement ${settlementId}.`);
    }
    if (before.status === 'completed' || before.status === 'failed') {
      return { settlement: before, deliveries: [] };
    }
    const done = await write(session, before);
    await SettlementModel.updateOne(
      { _id: settlementId, status: before.status },
      { $set: { ...done.change, needsApproval: false, nextActionAt: null } },
      { session },
    );
    await insertDeliveries(session, done.deliveries);
    await recordAudit(session, {
      ...by,
      action: `settlement.${done.change.status}`,
      subject: { kind: 'settlement', id: settlementId },
      before: { status: before.status },
      after: { status: done.change.status },
    });
    return { settlement: { ...before, ...done.change }, deliveries: done.deliveries };
  });
  await announceDeliveries(deliveries);
  return settlement;
}
