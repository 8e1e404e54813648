import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import type { Account } from '../accounts/account.model.js';
import { auditInsert, type ChangedBy } from '../audit/record-audit.js';
import { postUnnamed } from '../money/posting/post-unnamed.js';
import type { Posting } from '../money/posting/posting.js';
import { now } from '../shared/clock.js';
import { ValidationError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { newId } from '../shared/ids.js';
import { adjustments, toStored, type Adjustment } from './adjustment.model.js';
import { adjustmentMovement, requirePosted } from './adjustment-movement.js';

export interface AdjustmentRequest {
  account: Account;
  /** Rupiah: a credit, or, negative, a debit. */
  amount: number;
}

/**
 * Corrects a wallet by hand: at once below ADJUSTMENT_APPROVAL_FROM rupiah, otherwise once a second operator approves.
 * Invariant: one posting of wallet, journal, adjustment and audit entry; a debit never takes the wallet below zero.
 * @throws ValidationError for an amount that cannot be, or without a reason. ConflictError if the balance does not cover
 *   it. DependencyError if it is not known whether it was written.
 */
export async function requestAdjustment(request: AdjustmentRequest, by: ChangedBy): Promise<Adjustment> {
  const reason = checked(request, by);
  const at = now();
  const pending: Adjustment = {
    _id: newId(),
    accountId: request.account._id,
    amount: request.amount,
    reason,
    status: 'pending',
    requestedBy: by.actor,
    decidedBy: null,
    balanceAfter: null,
    createdAt: at,
    decidedAt: null,
  };
  if (Math.abs(pending.amount) >= env.ADJUSTMENT_APPROVAL_FROM) {
    requirePosted(pending, await postUnnamed(waitingPosting(pending, by), asWritten(adviceFor(request))));
    return pending;
  }
  const completed: Adjustment = { ...pending, status: 'completed', decidedAt: at };
  const result = await postUnnamed(immediatePosting(completed, by), asWritten(adviceFor(request)));
  return { ...completed, balanceAfter: requirePosted(completed, result)?.balance ?? null };
}

function checked({ amount }: AdjustmentRequest, { reason }: ChangedBy): string {
  if (!Number.isSafeInteger(amount) || amount === 0 || Math.abs(amount) > limits.depositMax) {
    const message = `amount must be whole rupiah, not 0, and at most ${limits.depositMax} either way`;
    throw new ValidationError([{ field: 'amount', message: asWritten(message) }]);
  }
  if (!reason?.trim()) {
    throw new ValidationError([{ field: 'reason', message: asWritten('An adjustment needs a reason.') }]);
  }
  return reason;
}

function immediatePosting(completed: Adjustment, by: ChangedBy): Posting {
  return {
    ...adjustmentMovement(completed),
    inserts: [
      auditOf('adjustment.post', completed, by),
      {
        collection: adjustments.collectionName,
        documentAfter: ({ balance }) => toStored({ ...completed, balanceAfter: balance }),
      },
    ],
  };
}

function waitingPosting(pending: Adjustment, by: ChangedBy): Posting {
  return {
    accountId: pending.accountId,
    kind: 'adjustment-request',
    subjectId: pending._id,
    inserts: [
      { collection: adjustments.collectionName, document: toStored(pending) },
      auditOf('adjustment.request', pending, by),
    ],
  };
}

function auditOf(action: string, { _id, accountId, amount, status }: Adjustment, by: ChangedBy) {
  const subject = { kind: 'adjustment' as const, id: _id };
  return auditInsert({ ...by, action, subject, after: { accountId, amount, status } });
}

/** The same command again would be another adjustment: whoever does not know looks first. */
function adviceFor({ account }: AdjustmentRequest): string {
  return (
    'It is not known whether the adjustment was made. Look before you repeat it: ' +
    `topup adjust list --account ${account.username}`
  );
}
