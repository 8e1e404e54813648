import { env } from '../../../config/env.js';
import { accountById } from '../../accounts/find-account.js';
import type { ProviderTraits } from '../../providers/adapter.js';
import { adapterFor, connectionOf } from '../../providers/get-adapter.js';
import { nextPollAt } from '../../providers/schedule.js';
import { now, nowMs } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import { applyOutcome, type Next } from './apply-outcome.js';
import { requestOf } from './orders.js';
import { OrderModel, type Order } from '../order.model.js';
import { enqueueCallbackCheck } from './enqueue-purchase.js';
import { putUnderReview } from './put-under-review.js';
import { postpone } from './postpone.js';
import type { Purchase } from '../purchase.model.js';

/**
 * Asks the provider what became of an order that was sent (money.md 5): never before its lease ends, never
 * before the schedule says so, and never after its longest age, when asking could buy again. One caller at a time:
 * the check is claimed before the request goes out.
 * @param options.askNow The provider itself called: only its minimum interval is kept.
 */
export async function checkOrder(
  purchase: Purchase,
  order: Order,
  options: { askNow: boolean },
): Promise<Next> {
  const adapter = adapterFor(order.providerKind);
  const dueMs = dueCheckMs(order, adapter.traits, options.askNow);
  if (dueMs > nowMs()) {
    await waitUntil(dueMs, { purchase, order, ...options });
    return 'done';
  }
  const ageMs = nowMs() - (order.sentAt ?? order.createdAt).getTime();
  if (ageMs >= Math.min(env.UNKNOWN_REVIEW_AFTER, adapter.traits.inquiryMaxAgeMs)) {
    await putUnderReview(purchase, 'The provider has not given a final answer in time.');
    return 'done';
  }
  const claimed = await claimCheck(order, adapter.traits.timeoutMs);
  if (!claimed) {
    return 'done';
  }
  const seller = await accountById(order.sellerId);
  // The order as it was before this check: the adapter guards the time since the last contact by it.
  const outcome = await adapter.inquire(connectionOf(seller), requestOf(purchase, order));
  // That the question could not be sent says nothing about the order, which was.
  const known = outcome.outcome === 'not-sent' ? { ...outcome, outcome: 'unknown' as const } : outcome;
  return applyOutcome(purchase, claimed, known);
}

function dueCheckMs(order: Order, traits: ProviderTraits, askNow: boolean): number {
  if (order.status === 'SENT') {
    return order.leaseUntil?.getTime() ?? 0;
  }
  const sentAt = order.sentAt ?? order.createdAt;
  const { checks, lastCheckAt } = order;
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
  { purchase, order, askNow }: { purchase: Purchase; order: Order; askNow: boolean },
): Promise<void> {
  if (askNow) {
    await enqueueCallbackCheck(order, dueMs - nowMs());
  } else if ((purchase.nextActionAt?.getTime() ?? 0) < dueMs || order.status === 'SENT') {
    await postpone(purchase, dueMs - nowMs());
  }
}

async function claimCheck(order: Order, timeoutMs: number): Promise<Order | null> {
  const claim = {
    status: 'UNKNOWN' as const,
    leaseToken: newId(),
    leaseUntil: new Date(nowMs() + timeoutMs),
    lastCheckAt: now(),
    updatedAt: now(),
  };
  const result = await OrderModel.updateOne(
    { _id: order._id, open: true, checks: order.checks },
    { $set: claim, $inc: { checks: 1 } },
  );
  return result.matchedCount === 1 ? { ...order, ...claim, checks: order.checks + 1 } : null;
}
