import { env } from '../../../config/env.js';
import { getExistingAccount } from '../../accounts/find-account.js';
import type { ProviderTraits } from '../../providers/adapter.js';
import { getAdapter, buildConnection } from '../../providers/get-adapter.js';
import { LateError } from '../../providers/http.js';
import { getNextPollAt } from '../../providers/status-check-schedule.js';
import { isTimeKnown } from '../../redis/fleet-clock.js';
import { now, nowMs } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import { applyOutcome, type NextStep } from './apply-outcome.js';
import { checkWithinMs, buildProviderOrder, catchLateError } from './orders.js';
import { getOrderKey, OrderModel, type Order } from '../order.model.js';
import { tryToAddJob } from '../../jobs/add-job.js';
import { askProviderJob } from './fulfilment-jobs.js';
import { putUnderReview } from './put-under-review.js';
import { postpone } from './schedule-purchase.js';
import type { Purchase } from '../purchase.model.js';

/**
 * Range of the retry delay in milliseconds after Redis or this process stalls. The delay is random,
 * so that not all checks resume at once.
 */
const retryAfterLateMs = { least: 1_000, most: 6_000 };

/**
 * Queries the provider for the status of a sent order (decision 003). The check waits until it is
 * due and until no other request for the order is in flight. No check runs after the provider's
 * maximum age, because a status check could then buy again.
 *
 * The check is claimed before the request is sent, so only one process queries at a time.
 * @param options.askNow The provider sent a callback. The check then ignores the schedule but keeps
 *   the provider's minimum interval.
 */
export async function checkOrder(
  purchase: Purchase,
  order: Order,
  options: { askNow: boolean },
): Promise<NextStep> {
  if (order.neverAskAgain) {
    // The earlier attempt to store the review failed. The order may have a newer message by now.
    const last = order.message === null ? '' : ` Its last message: ${order.message}`;
    await putUnderReview(purchase, `The provider must not be queried about this order again.${last}`);
    return 'done';
  }
  const adapter = getAdapter(order.providerKind);
  const dueMs = getNextCheckMs(order, adapter.traits, options.askNow);
  if (dueMs > nowMs()) {
    // The lease is ignored here, because most checks in progress end long before their lease
    // expires.
    const isAsked = options.askNow && order.status !== 'SENT';
    const againMs = isAsked ? nowMs() + adapter.traits.inquiryMinIntervalMs : Infinity;
    await rescheduleCheck(Math.min(dueMs, againMs), { purchase, ...options });
    return 'early';
  }
  if (nowMs() >= getReviewAtMs(purchase, order, adapter.traits)) {
    await putUnderReview(purchase, 'The provider reported no final outcome in time.');
    return 'done';
  }
  const comeSoon = async (): Promise<NextStep> => {
    const { least, most } = retryAfterLateMs;
    await rescheduleCheck(nowMs() + least + Math.random() * (most - least), { purchase, ...options });
    return 'early';
  };
  // Read the settings before the claim. A failed read must not count as a check or use up its time.
  const connection = buildConnection(await getExistingAccount(order.sellerId), order);
  if (!(await isTimeKnown())) {
    return comeSoon();
  }
  const claimedMs = nowMs();
  const claimed = await claimCheck(order, adapter.traits.timeoutMs);
  if (!claimed) {
    return 'done';
  }
  // Pass the order as it was before this check. The adapter computes the time since the last
  // contact from it.
  const request = buildProviderOrder(purchase, order, new Date(claimedMs + checkWithinMs));
  const outcome = await catchLateError(purchase, order, adapter.inquire(connection, request));
  if (outcome instanceof LateError) {
    await releaseCheck(claimed, order);
    return comeSoon();
  }
  // Only the status check was not sent. The order itself was, so its outcome stays unknown.
  const known = outcome.outcome === 'not-sent' ? { ...outcome, outcome: 'unknown' as const } : outcome;
  return applyOutcome(purchase, claimed, known);
}

/**
 * Returns the time in milliseconds at which the review opens: UNKNOWN_REVIEW_AFTER after the order
 * was sent or the operator resumed checks, but no later than the provider's maximum age.
 */
function getReviewAtMs({ reviewAskedAt }: Purchase, order: Order, traits: ProviderTraits): number {
  const sentMs = getSentAtMs(order);
  const sinceMs = Math.max(sentMs, reviewAskedAt?.getTime() ?? 0);
  return Math.min(sinceMs + env.UNKNOWN_REVIEW_AFTER, sentMs + traits.inquiryMaxAgeMs);
}

/**
 * Returns the earliest time in milliseconds at which an open order may be checked on demand.
 * @returns Null if the order is older than the provider's maximum age. A check could then buy
 *   again.
 */
export function getAskableAtMs(order: Order): number | null {
  const { traits } = getAdapter(order.providerKind);
  const atMs = Math.max(nowMs(), getNextCheckMs(order, traits, true));
  return atMs < getSentAtMs(order) + traits.inquiryMaxAgeMs ? atMs : null;
}

function getSentAtMs({ sentAt, createdAt }: Order): number {
  return (sentAt ?? createdAt).getTime();
}

function getNextCheckMs(order: Order, traits: ProviderTraits, askNow: boolean): number {
  // The lease of another check also delays this one. Its request may still be in flight and could
  // buy after a later response was believed.
  const leaseMs = order.leaseUntil?.getTime() ?? 0;
  return order.status === 'SENT' ? leaseMs : Math.max(leaseMs, getNextContactMs(order, traits, askNow));
}

function getNextContactMs(order: Order, traits: ProviderTraits, askNow: boolean): number {
  const sentAt = order.sentAt ?? order.createdAt;
  const { checks, lastCheckAt } = order;
  return askNow
    ? (lastCheckAt ?? sentAt).getTime() + traits.inquiryMinIntervalMs
    : // The scheduled time without jitter. No check is scheduled after the maximum age.
      (getNextPollAt({ sentAt, checks, lastCheckAt }, traits, { random: () => 0 })?.getTime() ?? 0);
}

/** Reschedules a check that ran too early. A check after a callback gets a job of its own. */
async function rescheduleCheck(
  dueMs: number,
  { purchase, askNow }: { purchase: Purchase; askNow: boolean },
): Promise<void> {
  const delayMs = dueMs - nowMs();
  if (askNow) {
    await tryToAddJob(
      askProviderJob,
      { purchaseId: purchase._id, accountId: purchase.accountId, askNow },
      { delayMs, requestId: purchase.requestId },
    );
  } else {
    await postpone(purchase, delayMs);
  }
}

async function claimCheck(order: Order, timeoutMs: number): Promise<Order | null> {
  const claim = {
    status: 'UNKNOWN' as const,
    leaseToken: newId(),
    leaseUntil: new Date(nowMs() + checkWithinMs + timeoutMs),
    lastCheckAt: now(),
    // The previous check did not store a response.
    ...(order.leaseUntil !== null && order.lastCheckAt !== null && { unansweredAt: order.lastCheckAt }),
    updatedAt: now(),
  };
  const result = await OrderModel.updateOne(
    // A released check restores `checks`. So `lastCheckAt` is needed to distinguish it from the
    // next check.
    {
      ...getOrderKey(order),
      open: true,
      checks: order.checks,
      lastCheckAt: order.lastCheckAt,
      neverAskAgain: { $ne: true },
    },
    { $set: claim, $inc: { checks: 1 } },
  );
  return result.matchedCount === 1 ? { ...order, ...claim, checks: order.checks + 1 } : null;
}

/**
 * Undoes the claim of a check that was not sent. The check then counts neither in the schedule nor
 * as a contact.
 */
async function releaseCheck(claimed: Order, { checks, lastCheckAt }: Order): Promise<void> {
  await OrderModel.updateOne(
    { ...getOrderKey(claimed), open: true, leaseToken: claimed.leaseToken },
    { $set: { checks, lastCheckAt, leaseUntil: null, updatedAt: now() } },
  );
}
