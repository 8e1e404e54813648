import { env } from '../../config/env.js';
import { accountById } from '../accounts/find-account.js';
import { adapterFor, connectionOf } from '../providers/get-adapter.js';
import { now, nowMs } from '../shared/clock.js';
import { newId } from '../shared/ids.js';
import { applyOutcome, type Next } from './apply-outcome.js';
import { orderOf } from './attempts.js';
import { AttemptModel, type Attempt } from './attempt.model.js';
import { putUnderReview } from './put-under-review.js';
import { postpone } from './postpone.js';
import type { Transaction } from './transaction.model.js';

/**
 * Asks the provider what became of an attempt that was sent (money.md 5): never before its lease ends, never
 * more often than the provider allows, and never after its longest age, when asking could buy again. One caller
 * at a time: the check is claimed before the request goes out.
 */
export async function checkAttempt(transaction: Transaction, attempt: Attempt): Promise<Next> {
  const adapter = adapterFor(attempt.providerKind);
  const waitMs = earliestCheckMs(attempt, adapter.traits.inquiryMinIntervalMs) - nowMs();
  if (waitMs > 0) {
    await postpone(transaction, waitMs);
    return 'done';
  }
  const ageMs = nowMs() - (attempt.sentAt ?? attempt.createdAt).getTime();
  if (ageMs >= Math.min(env.UNKNOWN_REVIEW_AFTER, adapter.traits.inquiryMaxAgeMs)) {
    await putUnderReview(transaction, 'The provider has not given a final answer in time.');
    return 'done';
  }
  const claimed = await claimCheck(attempt, adapter.traits.timeoutMs);
  if (!claimed) {
    return 'done';
  }
  const seller = await accountById(attempt.sellerId);
  // The order as it was before this check: the adapter guards the time since the last contact by it.
  const outcome = await adapter.inquire(connectionOf(seller), orderOf(transaction, attempt));
  // That the question could not be sent says nothing about the order, which was.
  const known = outcome.outcome === 'not-sent' ? { ...outcome, outcome: 'unknown' as const } : outcome;
  return applyOutcome(transaction, claimed, known);
}

function earliestCheckMs(attempt: Attempt, minIntervalMs: number): number {
  const leaseEndMs = attempt.status === 'SENT' ? (attempt.leaseUntil?.getTime() ?? 0) : 0;
  const lastMs = (attempt.lastCheckAt ?? attempt.sentAt)?.getTime() ?? 0;
  return Math.max(leaseEndMs, lastMs + minIntervalMs);
}

async function claimCheck(attempt: Attempt, timeoutMs: number): Promise<Attempt | null> {
  const claim = {
    status: 'UNKNOWN' as const,
    leaseToken: newId(),
    leaseUntil: new Date(nowMs() + timeoutMs),
    lastCheckAt: now(),
    updatedAt: now(),
  };
  const result = await AttemptModel.updateOne(
    { _id: attempt._id, open: true, checks: attempt.checks },
    { $set: claim, $inc: { checks: 1 } },
  );
  return result.matchedCount === 1 ? { ...attempt, ...claim, checks: attempt.checks + 1 } : null;
}
