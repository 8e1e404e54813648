import type { PostingResult, WalletAfter, Bar, Posting } from '../money/posting/posting.js';
import { buildWalletMovement, buildBalanceTooLargeError } from '../money/wallets/wallet-balance.js';
import { ConflictError, ValidationError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { type Adjustment, AdjustmentModel, adjustments, toStored } from './adjustment.model.js';
import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import type { Account } from '../accounts/account.model.js';
import { auditInsert, type ChangedBy } from '../audit/record-audit.js';
import { postWithoutKey } from '../money/posting/post.js';
import { now } from '../shared/clock.js';
import { newId } from '../shared/ids.js';

/** What an adjustment does to the wallet, whether it had to be approved or not. */
export function buildAdjustmentMovement(adjustment: Adjustment) {
  return buildWalletMovement('adjustment', 'platform:adjustments', adjustment);
}

/**
 * @returns the wallet after it, null where no money was moved.
 * @throws ConflictError if the balance does not cover it, or somebody else has decided it; ValidationError.
 */
export function requirePosted({ _id, amount }: Adjustment, result: PostingResult): WalletAfter | null {
  switch (result.outcome) {
    case 'posted':
      return result.wallet;
    case 'insufficient':
      throw new ConflictError(
        asWritten(`The wallet holds ${result.balance}: a debit of ${-amount} would take it below zero.`),
      );
    case 'too-large':
      throw buildBalanceTooLargeError();
    case 'duplicate':
    case 'stale':
      throw new ConflictError(asWritten(`Adjustment ${_id} has just been decided. Look at it again.`));
  }
}

const windowMs = 86_400_000;

/** What an operator has made of an account without a second one, in the 24 hours up to a moment. */
export interface UnapprovedAdjustments {
  /** Rupiah, credits and debits alike: one does not take back that the other was made. */
  sum: number;
  /** Of another one: those that were made after this was read. With one of them the sum is not what it was. */
  barOf: (adjustmentId: string) => Bar;
}

/**
 * Those that wait or were rejected have moved nothing, and those that another operator has approved were looked at. One of a
 * later moment counts too: a clock that is behind must not forget it.
 */
export async function findUnapprovedAdjustments(
  accountId: string,
  actor: string,
  at: Date,
): Promise<UnapprovedAdjustments> {
  const own = {
    accountId,
    requestedBy: actor,
    status: 'completed' as const,
    decidedBy: null,
    createdAt: { $gt: new Date(at.getTime() - windowMs) },
  };
  // Neither account nor creation changes, so each is summed once; what completes later is barred.
  const made = await AdjustmentModel.find(own, { amount: 1 }).lean<Pick<Adjustment, '_id' | 'amount'>[]>();
  return {
    sum: made.reduce((sum, { amount }) => sum + Math.abs(amount), 0),
    barOf: (adjustmentId) => ({
      collection: adjustments.collectionName,
      rivals: `${accountId} ${actor}`,
      filter: { ...own, _id: { $nin: [adjustmentId, ...made.map(({ _id }) => _id)] as never[] } },
    }),
  };
}

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
