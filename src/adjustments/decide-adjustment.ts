import { buildAuditInsertAfter, recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { findConfirmed } from '../database/find-confirmed.js';
import { toInt64 } from '../database/typed-collection.js';
import { runInTransaction } from '../database/mongo.js';
import { post } from '../money/posting/post.js';
import type { Insert, WalletAfter } from '../money/posting/posting.js';
import { now } from '../shared/clock.js';
import { ConflictError, NotFoundError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { AdjustmentModel, adjustments, type Adjustment } from './adjustment.model.js';
import { buildAdjustmentMovement, requirePosted } from './request-adjustment.js';

/**
 * Approves a pending adjustment and posts it. Approving twice changes nothing. The requester cannot
 * approve it. Invariant: an adjustment is posted at most once. Its status and the unique journal
 * enforce this.
 *
 * @throws NotFoundError if there is no such adjustment.
 * @throws ConflictError if the actor is the requester, the adjustment was rejected, or the balance
 *   does not cover it.
 */
export async function approveAdjustment(
  adjustmentId: string,
  by: ChangedBy,
): Promise<{ adjustment: Adjustment; changed: boolean }> {
  const adjustment = await requireAdjustment(adjustmentId);
  if (adjustment.status === 'completed') {
    return { adjustment, changed: false };
  }
  requirePending(adjustment);
  if (adjustment.requestedBy === by.actor) {
    throw new ConflictError(
      asWritten(`${by.actor} requested it; another operator must approve adjustment ${adjustmentId}.`),
    );
  }
  const end = { status: 'completed' as const, decidedBy: by.actor, decidedAt: now() };
  const result = await post({
    ...buildAdjustmentMovement(adjustment),
    changes: [
      {
        collection: adjustments.collectionName,
        id: adjustmentId,
        expect: { status: 'pending', requestedBy: { $ne: by.actor } },
        setAfter: ({ balance }) => ({ ...end, balanceAfter: toInt64(balance) }),
      },
    ],
    inserts: [buildApprovalAudit(adjustment, by)],
  });
  const after = requirePosted(adjustment, result);
  return { adjustment: { ...adjustment, ...end, balanceAfter: after?.balance ?? null }, changed: true };
}

/**
 * Rejects a pending adjustment. The requester may reject it, too. Rejecting twice changes nothing.
 * @throws NotFoundError if there is no such adjustment.
 * @throws ConflictError if it was completed.
 */
export async function rejectAdjustment(
  adjustmentId: string,
  by: ChangedBy,
): Promise<{ adjustment: Adjustment; changed: boolean }> {
  const { accountId } = await requireAdjustment(adjustmentId);
  const changed = await runInTransaction(async (session) => {
    const end = { status: 'rejected', decidedBy: by.actor, decidedAt: now() };
    const { matchedCount } = await AdjustmentModel.updateOne(
      { _id: adjustmentId, accountId, status: 'pending' },
      { $set: end },
      { session },
    );
    if (matchedCount === 1) {
      await recordAudit(session, {
        ...by,
        action: 'adjustment.reject',
        subject: { kind: 'adjustment', id: adjustmentId },
        before: { status: 'pending' },
        after: { status: 'rejected' },
      });
    }
    return matchedCount === 1;
  });
  const adjustment = await requireAdjustment(adjustmentId);
  if (adjustment.status !== 'rejected') {
    requirePending(adjustment);
  }
  return { adjustment, changed };
}

/**
 * Reads with majority confirmation, because callers report "already completed", which must survive
 * a failover.
 */
async function requireAdjustment(id: string): Promise<Adjustment> {
  const [found] = await findConfirmed(adjustments, { _id: id });
  if (!found) {
    throw new NotFoundError(asWritten(`There is no adjustment ${id}.`), {
      atCommandLine: 'To list pending adjustments: topup adjust list',
    });
  }
  return found;
}

function requirePending({ _id, status, decidedBy }: Adjustment): void {
  if (status !== 'pending') {
    throw new ConflictError(
      asWritten(`Adjustment ${_id} is ${status}${decidedBy === null ? '' : ` by ${decidedBy}`}.`),
    );
  }
}

function buildApprovalAudit({ _id, accountId, amount, requestedBy }: Adjustment, by: ChangedBy): Insert {
  return buildAuditInsertAfter(({ balance }: WalletAfter) => ({
    ...by,
    action: 'adjustment.approve',
    subject: { kind: 'adjustment', id: _id },
    before: { status: 'pending', requestedBy },
    after: { status: 'completed', accountId, amount, balanceAfter: balance },
  }));
}
