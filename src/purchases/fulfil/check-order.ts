import { env } from '../../../config/env.js';
import { accountById } from '../../accounts/find-account.js';
import type { ProviderTraits } from '../../providers/adapter.js';
import { adapterFor, connectionOf } from '../../providers/get-adapter.js';
import { nextPollAt } from '../../providers/schedule.js';
import { now, nowMs } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import { applyOutcome, type Next } from './apply-outcome.js';
import { orderOf } from './orders.js';
import { AttemptModel, type Attempt } from '../order.model.js';
import { enqueueCallbackCheck } from './enqueue-purchase.js';
import { putUnderReview } from './put-under-review.js';
import { postpone } from './postpone.js';
import type { Transaction } from '../purchase.model.js';

/**
 * Asks the provider what became of an attempt that was sent (money.md 5): never before its lease ends, never
 * before the schedule says so, and never after its longest age, when asking could buy again. One caller at a time:
 * the check is claimed before the request goes out.
 * @param options.askNow The provider itself called: only its minimum interval is kept.
 */
export async function checkAttempt(
  transaction: Transaction,
  attempt: Attempt,
  options: { askNow: boolean },
): Promise<Next> {
  const adapter = adapterFor(attempt.providerKind);
  const dueMs = dueCheckMs(attempt, adapter.traits, options.askNow);
  if (dueMs > nowMs()) {
    await waitUntil(dueMs, { transaction, attempt, ...options });
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

function dueCheckMs(attempt: Attempt, traits: ProviderTraits, askNow: boolean): number {
  if (attempt.status === 'SENT') {
    return attempt.leaseUntil?.getTime() ?? 0;
  }
  const sentAt = attempt.sentAt ?? attempt.createdAt;
  const { checks, lastCheckAt } = attempt;
  return askNow
    ? (lastCheckAt ?? sentAt).getTime() + traits.inquiryMinIntervalMs
    : // The schedule's own moment, before the jitter that its job has. Past the maximum age there is none.
      (nextPollAt({ sentAt, checks, lastCheckAt }, traits, { random: () => 0 })?.getTime() ?? 0);
}

/**
 * Too early. A job that came too early is one too many (a callback has started another row of checks), so it ends
 * here, unless nobody else would come: after a crash, when the purchase is not put aside until then.
 */
async function waitUntil(
  dueMs: number,
  of: { transaction: Transaction; attempt: Attempt; askNow: boolean },
): Promise<void> {
  const { transaction, attempt, askNow } = of;
  if (askNow) {
    await enqueueCallbackCheck(attempt, dueMs - nowMs());
  } else if ((transaction.nextActionAt?.getTime() ?? 0) < dueMs || attempt.status === 'SENT') {
    await postpone(transaction, dueMs - nowMs());
  }
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
