import type { PostingResult, WalletAfter, Bar, Posting } from '../money/posting/posting.js';
import { buildWalletMovement, buildBalanceTooLargeError } from '../money/wallets/wallet-balance.js';
import { ConflictError, ValidationError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { type Adjustment, AdjustmentModel, adjustments, toStored } from './adjustment.model.js';
import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import type { Account } from '../accounts/account.model.js';
import { buildAuditEntryInsert, type ChangedBy } from '../audit/record-audit.js';
import { postWithoutKey } from '../money/posting/post.js';
import { now } from '../shared/clock.js';
import { newId } from '../shared/ids.js';

/** Builds the wallet movement of an adjustment, whether or not it needs approval. */
export function buildAdjustmentMovement(adjustment: Adjustment) {
  return buildWalletMovement('adjustment', 'platform:adjustments', adjustment);
}

/**
 * Checks the result of a posting.
 * @returns The wallet after the posting, or null if no money moved.
 * @throws ConflictError if the balance does not cover the adjustment, or the adjustment was decided
 *   meanwhile.
 * @throws ValidationError if the balance would be too large.
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

/** The adjustments that one operator made on one account without approval in the last 24 hours. */
export interface UnapprovedAdjustments {
  /** Sum in rupiah. Credits and debits both count by their absolute amounts. */
  sum: number;
  /**
   * Builds a bar that refuses the posting of `adjustmentId` if the operator has made another
   * adjustment since this read.
   */
  barOf: (adjustmentId: string) => Bar;
}

/**
 * Sums the completed adjustments that this operator made without approval. Adjustments dated after
 * `at` count too, because the clock of a process may be behind.
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
  // The fields of the filter never change, so this read counts each adjustment once. `barOf` refuses
  // the posting if another adjustment is completed after the read.
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
  /** Amount in rupiah. Positive is a credit, negative a debit. */
  amount: number;
}

/**
 * Maximum number of attempts. An attempt fails only if the same operator adjusts the same account
 * concurrently.
 */
const roundsMax = 50;

/**
 * Corrects a wallet. A second operator must approve if this amount plus the operator's unapproved
 * adjustments of the account in the last 24 hours reach ADJUSTMENT_APPROVAL_FROM rupiah (decision
 * 011). Smaller adjustments are posted at once.
 *
 * Invariant: one posting writes wallet, journal, adjustment and audit entry. It fails if the
 * operator has made another adjustment meanwhile. A debit never makes the balance negative.
 *
 * @throws ValidationError for an invalid amount or a missing reason.
 * @throws ConflictError if the balance does not cover the debit.
 * @throws DependencyError if it is unknown whether the adjustment was written.
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
    asWritten('Other adjustments of this account are in progress. Check them, then try again.'),
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
    const message = `amount must be whole rupiah, not 0, and at most ${limits.depositMax} as credit or debit`;
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
  return buildAuditEntryInsert({ ...by, action, subject, after: { accountId, amount, status } });
}

/**
 * Builds the advice after an unknown outcome. Repeating the command would create another
 * adjustment, so the operator must check first.
 */
function buildAdvice({ account }: AdjustmentRequest): string {
  return (
    `The outcome of the adjustment is unknown. Check the adjustments of ${account.username} before you repeat it ` +
    `(on the command line: topup adjust list --account ${account.username}).`
  );
}
