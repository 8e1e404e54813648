import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import type { Account } from '../accounts/account.model.js';
import { auditInsert, type ChangedBy } from '../audit/record-audit.js';
import { postWithoutKey } from '../money/posting/post-unnamed.js';
import type { Posting } from '../money/posting/posting.js';
import { now } from '../shared/clock.js';
import { ConflictError, ValidationError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { newId } from '../shared/ids.js';
import { adjustments, toStored, type Adjustment } from './adjustment.model.js';
import { buildAdjustmentMovement, requirePosted } from './adjustment-movement.js';
import { findUnapprovedAdjustments } from './made-alone.js';

export interface AdjustmentRequest {
  account: Account;
  /** Rupiah: a credit, or, negative, a debit. */
  amount: number;
}

/** Each round that is lost was won by another adjustment of the same operator and account. */
const roundsMax = 50;

/**
 * Corrects a wallet by hand. From ADJUSTMENT_APPROVAL_FROM rupiah on, together with what the operator has made of this account
 * alone in the last 24 hours, it waits for a second operator (decision 011); below that it is made at once.
 * Invariant: one posting of wallet, journal, adjustment and audit entry, which is not written if the operator has made another
 *   one meanwhile; a debit never takes the wallet below zero.
 * @throws ValidationError for an amount that cannot be, or without a reason. ConflictError if the balance does not cover
 *   it. DependencyError if it is not known whether it was written.
 */
export async function requestAdjustment(request: AdjustmentRequest, by: ChangedBy): Promise<Adjustment> {
  const reason = requireValidRequest(request, by);
  for (let round = 0; round < roundsMax; round += 1) {
    const pending = buildAdjustment(request, { by, reason });
    const alone = await findUnapprovedAdjustments(pending.accountId, by.actor, pending.createdAt);
    if (alone.sum + Math.abs(pending.amount) >= env.ADJUSTMENT_APPROVAL_FROM) {
      requirePosted(
        pending,
        await postWithoutKey(buildWaitingPosting(pending, by), asWritten(buildAdvice(request))),
      );
      return pending;
    }
    const completed: Adjustment = { ...pending, status: 'completed', decidedAt: pending.createdAt };
    const posting = { ...buildImmediatePosting(completed, by), barredBy: alone.barOf(completed._id) };
    const result = await postWithoutKey(posting, asWritten(buildAdvice(request)));
    if (result.outcome !== 'stale') {
      return { ...completed, balanceAfter: requirePosted(completed, result)?.balance ?? null };
    }
  }
  throw new ConflictError(
    asWritten('Other adjustments of this account are being made. Look at them, and then try again.'),
  );
}

function buildAdjustment(
  { account, amount }: AdjustmentRequest,
  { by, reason }: { by: ChangedBy; reason: string },
): Adjustment {
  return {
    _id: newId(),
    accountId: account._id,
    amount,
    reason,
    status: 'pending',
    requestedBy: by.actor,
    decidedBy: null,
    balanceAfter: null,
    createdAt: now(),
    decidedAt: null,
  };
}

function requireValidRequest({ amount }: AdjustmentRequest, { reason }: ChangedBy): string {
  if (!Number.isSafeInteger(amount) || amount === 0 || Math.abs(amount) > limits.depositMax) {
    const message = `amount must be whole rupiah, not 0, and at most ${limits.depositMax} either way`;
    throw new ValidationError([{ field: 'amount', message: asWritten(message) }]);
  }
  if (!reason?.trim()) {
    throw new ValidationError([{ field: 'reason', message: asWritten('An adjustment needs a reason.') }]);
  }
  return reason;
}

function buildImmediatePosting(completed: Adjustment, by: ChangedBy): Posting {
  return {
    ...buildAdjustmentMovement(completed),
    inserts: [
      buildAudit('adjustment.post', completed, by),
      {
        collection: adjustments.collectionName,
        documentAfter: ({ balance }) => toStored({ ...completed, balanceAfter: balance }),
      },
    ],
  };
}

function buildWaitingPosting(pending: Adjustment, by: ChangedBy): Posting {
  return {
    accountId: pending.accountId,
    kind: 'adjustment-request',
    subjectId: pending._id,
    inserts: [
      { collection: adjustments.collectionName, document: toStored(pending) },
      buildAudit('adjustment.request', pending, by),
    ],
  };
}

function buildAudit(action: string, { _id, accountId, amount, status }: Adjustment, by: ChangedBy) {
  const subject = { kind: 'adjustment' as const, id: _id };
  return auditInsert({ ...by, action, subject, after: { accountId, amount, status } });
}

/** The same command again would be another adjustment: whoever does not know looks first. */
function buildAdvice({ account }: AdjustmentRequest): string {
  return (
    `It is not known whether the adjustment was made. Look at those of ${account.username} before you repeat it ` +
    `(on the command line: topup adjust list --account ${account.username}).`
  );
}
