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

/** Redis stalls, or we do: it goes on some seconds later, not all of it at once. */
const retryAfterLateMs = { least: 1_000, most: 6_000 };

/**
 * Asks the provider what became of an order that was sent (decision 003): never before its lease, or that of another
 * check, ends, never before the schedule says so, and never after its longest age, when asking could buy again. One
 * caller at a time: the check is claimed before the request goes out.
 * @param options.askNow The provider itself called: only its minimum interval is kept.
 */
export async function checkOrder(
  purchase: Purchase,
  order: Order,
  options: { askNow: boolean },
): Promise<NextStep> {
  if (order.neverAskAgain) {
    // Its review could not be written when that was heard; by now the order may say what was heard later.
    const last = order.message === null ? '' : ` Last heard of it: ${order.message}`;
    await putUnderReview(purchase, `The provider must not be asked about it again.${last}`);
    return 'done';
  }
  const adapter = getAdapter(order.providerKind);
  const dueMs = getNextCheckMs(order, adapter.traits, options.askNow);
  if (dueMs > nowMs()) {
    // A check that is under way mostly ends long before its lease.
    const isAsked = options.askNow && order.status !== 'SENT';
    const againMs = isAsked ? nowMs() + adapter.traits.inquiryMinIntervalMs : Infinity;
    await rescheduleCheck(Math.min(dueMs, againMs), { purchase, ...options });
    return 'early';
  }
  if (nowMs() >= getReviewAtMs(purchase, order, adapter.traits)) {
    await putUnderReview(purchase, 'The provider has not given a final answer in time.');
    return 'done';
  }
  const comeSoon = async (): Promise<NextStep> => {
    const { least, most } = retryAfterLateMs;
    await rescheduleCheck(nowMs() + least + Math.random() * (most - least), { purchase, ...options });
    return 'early';
  };
  // Before the claim: settings that cannot be read must not count as a check, nor use up its time.
  const connection = buildConnection(await getExistingAccount(order.sellerId), order);
  if (!(await isTimeKnown())) {
    return comeSoon();
  }
  const claimedMs = nowMs();
  const claimed = await claimCheck(order, adapter.traits.timeoutMs);
  if (!claimed) {
    return 'done';
  }
  // The order as it was before this check: the adapter guards the time since the last contact by it.
  const request = buildProviderOrder(purchase, order, new Date(claimedMs + checkWithinMs));
  const outcome = await catchLateError(purchase, order, adapter.inquire(connection, request));
  if (outcome instanceof LateError) {
    await releaseCheck(claimed, order);
    return comeSoon();
  }
  // That the question could not be sent says nothing about the order, which was.
  const known = outcome.outcome === 'not-sent' ? { ...outcome, outcome: 'unknown' as const } : outcome;
  return applyOutcome(purchase, claimed, known);
}

/** When the operator has to decide: UNKNOWN_REVIEW_AFTER since it was sent, or since the operator had it asked again. */
function getReviewAtMs({ reviewAskedAt }: Purchase, order: Order, traits: ProviderTraits): number {
  const sentMs = getSentAtMs(order);
  const sinceMs = Math.max(sentMs, reviewAskedAt?.getTime() ?? 0);
  return Math.min(sinceMs + env.UNKNOWN_REVIEW_AFTER, sentMs + traits.inquiryMaxAgeMs);
}

/**
 * When an open order may be asked about if somebody wants to know now, in milliseconds.
 * @returns null: never again. By then it is older than the provider remembers, and asking could buy it again.
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
  // Also of another check: what its provider is asked may still be on its way, and buy when a later answer was believed.
  const leaseMs = order.leaseUntil?.getTime() ?? 0;
  return order.status === 'SENT' ? leaseMs : Math.max(leaseMs, getNextContactMs(order, traits, askNow));
}

function getNextContactMs(order: Order, traits: ProviderTraits, askNow: boolean): number {
  const sentAt = order.sentAt ?? order.createdAt;
  const { checks, lastCheckAt } = order;
  return askNow
    ? (lastCheckAt ?? sentAt).getTime() + traits.inquiryMinIntervalMs
    : // The schedule's own moment, before the jitter that its job has. Past the maximum age there is none.
      (getNextPollAt({ sentAt, checks, lastCheckAt }, traits, { random: () => 0 })?.getTime() ?? 0);
}

/** Too early: the one job that this purchase has comes again when it is time. */
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
    // Whoever asked last is gone, or has not written what it heard.
    ...(order.leaseUntil !== null && order.lastCheckAt !== null && { unansweredAt: order.lastCheckAt }),
    updatedAt: now(),
  };
  const result = await OrderModel.updateOne(
    // A check that is taken back leaves the number as it was: by its time it is told from the next one.
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

/** Nobody was asked: neither the schedule nor the time since the last contact goes by this check. */
async function releaseCheck(claimed: Order, { checks, lastCheckAt }: Order): Promise<void> {
  await OrderModel.updateOne(
    { ...getOrderKey(claimed), open: true, leaseToken: claimed.leaseToken },
    { $set: { checks, lastCheckAt, leaseUntil: null, updatedAt: now() } },
  );
}
