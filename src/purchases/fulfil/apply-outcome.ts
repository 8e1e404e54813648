import type { ProviderOutcome } from '../../providers/adapter.js';
import { getAdapter } from '../../providers/get-adapter.js';
import { getNextPollAt } from '../../providers/status-check-schedule.js';
import { now, nowMs } from '../../shared/clock.js';
import { logger } from '../../shared/logger.js';
import { getOrderKey, OrderModel, type Order } from '../order.model.js';
import { reportHighCost, reportRepeatedSerialNumber, recordContradiction } from './record-cases.js';
import { notifyPending } from './pending-notice.js';
import { postpone } from './schedule-purchase.js';
import { putUnderReview } from './put-under-review.js';
import { rejectOrder } from './order-transitions.js';
import { getLogFields } from '../purchase-metrics.js';
import { concludeFailure, concludeSuccess } from './conclude-purchase.js';
import type { Purchase } from '../purchase.model.js';

/**
 * The next step of the caller.
 *
 * - `again`: read the purchase again now, for example to try the next seller.
 * - `done`: end the job.
 * - `early`: end the job, which ran too early and was rescheduled.
 */
export type NextStep = 'again' | 'done' | 'early';

/**
 * Number of consecutive "not found" responses after which the order counts as not executed. The
 * provider's longest latency must have passed as well.
 */
const notFoundMax = 5;

/**
 * Turns a provider's response into a change of state (docs/explanation/outcomes.md#outcomes). A
 * definite response settles the money. Any other leaves the purchase PROCESSING and schedules
 * another check.
 */
export async function applyOutcome(
  purchase: Purchase,
  order: Order,
  outcome: ProviderOutcome,
): Promise<NextStep> {
  logger.info('provider responded', {
    ...getLogFields(purchase),
    order: order.n,
    sellerId: order.sellerId,
    outcome: outcome.outcome,
    code: outcome.code,
  });
  switch (outcome.outcome) {
    case 'success':
      await reportHighCost(purchase, order, outcome.cost);
      await concludeSuccess(purchase, order, outcome).catch((error: unknown) =>
        recordAcknowledged(order, outcome, error),
      );
      await reportRepeatedSerialNumber(purchase, outcome.serialNumber);
      return 'done';
    case 'refused':
      return applyRefusal(purchase, order, outcome);
    case 'reversed':
      await concludeFailure(purchase, order, { code: '01', message: outcome.message });
      return 'done';
    case 'not-sent':
      await rejectOrder(order, { code: 'not-sent', message: outcome.message });
      return 'again';
    case 'not-found':
      return applyNotFound(purchase, order, outcome);
    case 'review':
      // Persist the flag before opening the review, so that nothing queries the provider again.
      if (await updateOpenOrder(order, { ...buildAnswerFields(outcome), neverAskAgain: true })) {
        await putUnderReview(purchase, outcome.message);
      } else {
        await recordContradiction(purchase, { order, answer: 'under way' });
      }
      return 'done';
    case 'pending':
      await scheduleNextCheck(purchase, order, outcome, { notFound: 0, acknowledged: true });
      await notifyPending(purchase);
      return 'done';
    case 'unknown':
      // The request may still be on its way to the provider.
      await scheduleNextCheck(purchase, order, outcome, {
        notFound: 0,
        unansweredAt: order.lastCheckAt ?? order.sentAt,
      });
      return 'done';
  }
}

async function applyRefusal(
  purchase: Purchase,
  order: Order,
  refusal: Extract<ProviderOutcome, { outcome: 'refused' }>,
): Promise<NextStep> {
  if (refusal.failover === 'confirm' && order.checks === 0) {
    await scheduleNextCheck(purchase, order, refusal);
    return 'done';
  }
  if (refusal.failover === 'no') {
    await concludeFailure(purchase, order, { code: refusal.clientCode, message: refusal.message });
    return 'done';
  }
  await rejectOrder(order, { code: refusal.clientCode, message: refusal.message });
  return 'again';
}

async function applyNotFound(
  purchase: Purchase,
  order: Order,
  outcome: { code: string; message: string },
): Promise<NextStep> {
  const askedMs = Math.max(Number(order.sentAt ?? order.createdAt), Number(order.unansweredAt ?? 0));
  // The response is at least as recent as the start of this check.
  const knownMs = Number(order.lastCheckAt ?? now()) - askedMs;
  if (order.notFound + 1 >= notFoundMax && knownMs > getAdapter(order.providerKind).traits.longestLatencyMs) {
    if (!order.acknowledged) {
      const reason = { code: 'not-executed', message: outcome.message };
      if (!(await rejectOrder(order, reason, { acknowledged: null }))) {
        // Another process recorded a more certain response. This call only ends its own lease.
        await updateOpenOrder(order, {});
      }
    } else if (await updateOpenOrder(order, buildAnswerFields(outcome))) {
      await putUnderReview(purchase, 'The provider knew this order, and now reports that it does not exist.');
      return 'done';
    }
    return 'again';
  }
  await scheduleNextCheck(purchase, order, outcome, { notFound: order.notFound + 1 });
  return 'done';
}

/**
 * Marks the order as acknowledged if the success cannot be stored, so that the purchase is not sent
 * to another seller.
 * @throws The given error.
 */
async function recordAcknowledged(
  order: Order,
  outcome: { code: string; message: string },
  error: unknown,
): Promise<never> {
  await updateOpenOrder(order, { ...buildAnswerFields(outcome), acknowledged: true });
  throw error;
}

function buildAnswerFields({ code, message }: { code: string; message: string }) {
  return { code, message, updatedAt: now() };
}

/**
 * Records a response on an open order and ends the caller's lease. If another process has started a
 * newer check, the lease of that check stays.
 * @param own Fields that are written only while the caller holds the lease.
 * @returns False if the order was closed meanwhile.
 */
async function updateOpenOrder(
  order: Order,
  answerFields: Partial<Order>,
  own: Partial<Order> = {},
): Promise<boolean> {
  const isOpen = { ...getOrderKey(order), open: true };
  const { matchedCount } = await OrderModel.updateOne(
    { ...isOpen, leaseToken: order.leaseToken },
    { $set: { ...answerFields, ...own, status: 'UNKNOWN', leaseUntil: null } },
  );
  return matchedCount > 0 || (await OrderModel.updateOne(isOpen, { $set: answerFields })).matchedCount > 0;
}

async function scheduleNextCheck(
  purchase: Purchase,
  order: Order,
  answer: { code: string; message: string },
  { acknowledged, ...own }: { notFound: number; unansweredAt?: Date | null; acknowledged?: true } = {
    notFound: 0,
  },
): Promise<void> {
  const answerFields = { ...buildAnswerFields(answer), ...(acknowledged && { acknowledged }) };
  if (!(await updateOpenOrder(order, answerFields, own))) {
    // The order was closed during this request, but the provider may still execute it.
    await recordContradiction(purchase, { order, answer: 'under way' });
    return;
  }
  const due = getNextPollAt(
    { sentAt: order.sentAt ?? order.createdAt, checks: order.checks, lastCheckAt: order.lastCheckAt },
    getAdapter(order.providerKind).traits,
  );
  if (due) {
    await postpone(purchase, due.getTime() - nowMs());
  } else {
    await putUnderReview(
      purchase,
      'The provider reported no final outcome before the order was too old to check.',
    );
  }
}
