import { getAdapter, buildConnection } from '../../providers/get-adapter.js';
import type { ProviderConnection, ProviderOutcome } from '../../providers/adapter.js';
import { admitOrder, type Admission } from '../../providers/admission.js';
import { getMaxWaitMs, getConfiguredWaitMs, type WaitLimits } from '../../providers/backlog.js';
import { openCircuit } from '../../providers/circuit.js';
import { isScenarioOrder } from '../../providers/guarded-adapter.js';
import { LateError } from '../../providers/http.js';
import { getRoutingSellers } from '../../providers/routing-cache.js';
import { DeferJobError, RequeueJobError, tooEarly } from '../../jobs/define-job.js';
import type { Account } from '../../accounts/account.model.js';
import { getExistingAccount } from '../../accounts/find-account.js';
import { isTimeKnown } from '../../redis/fleet-clock.js';
import { nowMs } from '../../shared/clock.js';
import { getSellerPrice } from '../../money/commission.js';
import { logger } from '../../shared/logger.js';
import { applyOutcome, type NextStep } from './apply-outcome.js';
import { checkOrder } from './check-order.js';
import { claimOrder, type ClaimedOrder, rejectOrder } from './order-transitions.js';
import { concludeFailure } from './conclude-purchase.js';
import { type PurchaseData, loadPurchase, getSweepTime } from './fulfilment-jobs.js';
import { getRetryDelayMs, postpone, queueAtProvider } from './schedule-purchase.js';
import { findOrders, prepareNextOrder, buildProviderOrder, tooLateCode, catchLateError } from './orders.js';
import { putUnderReview } from './put-under-review.js';
import type { Order } from '../order.model.js';
import { isFinal, StalePurchaseError } from '../states.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';

/**
 * Maximum delay in milliseconds before a refused admission is tried again. It is short because the
 * provider may be out of service by then.
 */
const nextTurnMaxMs = 1_000;
/** Delay in milliseconds after an order that was not sent in time. It doubles up to `most`. */
const lateRetryDelayMs = { first: 1_000, most: 30_000 };
/**
 * After this many consecutive late orders, the default wait limit applies to a product without one.
 */
const lateMax = 5;
/**
 * Maximum number of steps in one run. The sellers of a product and concurrent changes cause fewer
 * steps, so more of them mean a loop.
 */
const stepsMax = 100;

/**
 * Moves a purchase forward from acceptance to its final state
 * (docs/explanation/life-of-a-purchase.md#from-the-commit-to-the-provider). Every job about a
 * purchase calls this function. It is safe to run twice, concurrently and after a crash: each step
 * is a conditional write that one caller wins.
 *
 * @param how.askNow True after a callback from the provider. The check then does not wait for its
 *   schedule.
 * @param how.turnAt The seller whose queue runs this job. If another seller must serve the
 *   purchase, it moves to that seller's queue. Null if the job comes from no seller's queue. If
 *   absent, orders are sent without queues.
 *
 * @returns `tooEarly` if the provider may not be queried yet.
 * @throws RequeueJobError if the provider accepts no order now.
 * @throws DeferJobError if the order was not sent in time. This says nothing about the provider.
 * @throws Error after too many steps. The sweep adds another job later.
 */
export async function fulfilPurchase(
  which: PurchaseData,
  how: { askNow?: boolean; turnAt?: string | null } = {},
): Promise<typeof tooEarly | undefined> {
  const visit: FulfilmentRun = { askNow: how.askNow ?? false, turnAt: how.turnAt, unreachable: new Set() };
  for (let step = 0; step < stepsMax; step++) {
    try {
      const next = await takeStep(which, visit);
      if (next !== 'again') {
        return next === 'early' ? tooEarly : undefined;
      }
    } catch (error) {
      if (!(error instanceof StalePurchaseError)) {
        throw error;
      }
      // Another writer changed the purchase. Read it again; the work is probably done.
    }
  }
  throw new Error(`Transaction ${which.purchaseId} did not finish within ${stepsMax} steps`);
}

interface FulfilmentRun {
  askNow: boolean;
  turnAt: string | null | undefined;
  /** Sellers that cannot be called because our settings for them are invalid. */
  unreachable: Set<string>;
}

async function takeStep(which: PurchaseData, visit: FulfilmentRun): Promise<NextStep> {
  const { askNow, turnAt } = visit;
  const purchase = await loadPurchase(which);
  if (!purchase || isFinal(purchase.status) || purchase.reviewSince !== null) {
    return 'done';
  }
  if (turnAt && purchase.queuedFor && purchase.queuedFor !== turnAt) {
    // The purchase moved to another queue and has a job there. This job is obsolete.
    return 'done';
  }
  const orders = await findOrders(purchase);
  const open = orders.find((each) => each.open);
  if (open) {
    // The order may have reached the provider. Check it; never send it again.
    return checkOrder(purchase, open, { askNow });
  }
  if (orders.some(({ status }) => status === 'OK')) {
    await putUnderReview(purchase, 'An attempt succeeded, but the transaction is still open.');
    return 'done';
  }
  return sendNextOrder(purchase, orders, visit);
}

/**
 * Sends the next order if this job runs in the queue of the seller that will serve it. Otherwise
 * moves the purchase to the queue of that seller.
 */
async function sendNextOrder(
  purchase: Purchase,
  orders: Order[],
  { turnAt, unreachable }: FulfilmentRun,
): Promise<NextStep> {
  const late = orders.length - 1 - orders.findLastIndex(({ code }) => code !== tooLateCode);
  if (late > 0 && !(await isTimeKnown())) {
    throw new DeferJobError(lateRetryDelayMs.first);
  }
  const order = await prepareNextOrder(purchase, orders, { unreachable, turnAt });
  if ('noRoute' in order) {
    return waitOrRefund(purchase, order.noRoute);
  }
  const waitMaxMs = (late < lateMax ? getConfiguredWaitMs : getMaxWaitMs)(await getWaitLimits(purchase));
  if (getWaitedMs(purchase) >= waitMaxMs) {
    return refundOverdue(purchase);
  }
  if (turnAt !== undefined && order.sellerId !== turnAt) {
    await queueAtProvider(purchase, order.sellerId);
    return 'done';
  }
  // Read the settings before the claim, so that a failed read leaves no claimed order that was
  // never sent.
  const connection = await findConnection(await getExistingAccount(order.sellerId), order);
  if (!connection) {
    unreachable.add(order.sellerId);
    return 'again';
  }
  const turn = await admitOrder(connection, {
    timeoutMs: getAdapter(order.providerKind).traits.timeoutMs,
    countsForCircuit: !isScenarioOrder(order.providerKind, purchase),
  });
  if (!('release' in turn)) {
    throw new RequeueJobError(Math.min(turn.retryAfterMs, nextTurnMaxMs));
  }
  try {
    const claimed = await claimOrder(purchase, order);
    const outcome = await sendOrder(connection, claimed, turn);
    if (!outcome) {
      const delayMs = Math.min(lateRetryDelayMs.most, lateRetryDelayMs.first * 2 ** late);
      await requeueInPlace(claimed.purchase, turnAt ?? null, delayMs);
      throw new DeferJobError(delayMs);
    }
    return await applyOutcome(claimed.purchase, claimed.order, outcome);
  } finally {
    // Release the admission in case `sendOrder` has not done so.
    await turn.release({ sent: false });
  }
}

/**
 * Keeps the purchase's place in its queue, so that the sweep adds a lost job at that place and not
 * at the end.
 */
async function requeueInPlace(
  { _id, accountId, version, epoch }: Purchase,
  queuedFor: string | null,
  delayMs: number,
): Promise<void> {
  await PurchaseModel.updateOne(
    { _id, accountId, status: 'PROCESSING', version, reviewSince: null },
    { $set: { queuedFor, nextActionAt: getSweepTime(epoch, nowMs() + delayMs) } },
  );
}

/**
 * Returns the connection, or null if our settings for the seller are invalid. Null also alerts the
 * operator; other sellers are tried meanwhile.
 */
async function findConnection(seller: Account, order: Order): Promise<ProviderConnection | null> {
  try {
    return buildConnection(seller, order);
  } catch (error) {
    logger.error('a provider cannot be called: invalid settings', { sellerId: order.sellerId, error });
    await openCircuit(order.sellerId, 'configuration');
    return null;
  }
}

/**
 * Sends the order. Releases the admission as soon as the provider has responded, before the outcome
 * is stored.
 * @returns Null if the order was not sent in time. The order is then closed, and the next order
 *   goes to the same seller.
 * @throws StalePurchaseError if another process checks the order meanwhile.
 */
async function sendOrder(
  connection: ProviderConnection,
  { purchase, order, sendBefore }: ClaimedOrder,
  turn: Admission,
): Promise<ProviderOutcome | null> {
  const adapter = getAdapter(order.providerKind);
  const request = buildProviderOrder(purchase, order, sendBefore);
  const outcome = await catchLateError(
    purchase,
    order,
    purchase.kind === 'postpaid'
      ? adapter.payBill(connection, { ...request, billTotal: getSellerPrice(purchase) })
      : adapter.buy(connection, request),
  );
  if (outcome instanceof LateError) {
    const isClosed = await rejectOrder(order, { code: tooLateCode, message: outcome.message });
    await turn.release({ sent: false });
    if (!isClosed) {
      throw new StalePurchaseError(`Another process is checking order ${order._id}`);
    }
    return null;
  }
  await turn.release({ sent: true });
  return outcome;
}

/**
 * Postpones a purchase that no seller can serve now. Refunds it after a final refusal or after its
 * maximum wait.
 */
async function waitOrRefund(
  purchase: Purchase,
  noRoute: { code: string; message: string; mayChange: boolean },
): Promise<NextStep> {
  if (!noRoute.mayChange) {
    await concludeFailure(purchase, null, { code: noRoute.code, message: noRoute.message });
    return 'done';
  }
  const leftMs = getMaxWaitMs(await getWaitLimits(purchase)) - getWaitedMs(purchase);
  if (leftMs <= 0) {
    return refundOverdue(purchase);
  }
  await postpone(purchase, getRetryDelayMs({ sellerId: purchase.offerSellerId, leftMs }));
  return 'done';
}

function getWaitedMs({ createdAt }: Purchase): number {
  return nowMs() - createdAt.getTime();
}

/** Refunds a purchase that waited too long and has no open order. */
async function refundOverdue(purchase: Purchase): Promise<NextStep> {
  const seconds = Math.round(getMaxWaitMs(await getWaitLimits(purchase)) / 1_000);
  const wait =
    seconds === 1
      ? '1 second'
      : seconds < 120
        ? `${seconds} seconds`
        : `${Math.round(seconds / 6) / 10} minutes`;
  await concludeFailure(purchase, null, {
    code: '03',
    message: `No seller could serve it within ${wait}.`,
  });
  return 'done';
}

/**
 * Returns the wait limits: the limit of the product at acceptance, and the current limit of the
 * provider that serves the accepted offer.
 */
async function getWaitLimits({ offerSellerId, maxWaitS }: Purchase): Promise<WaitLimits> {
  return { product: maxWaitS, provider: (await getRoutingSellers()).get(offerSellerId)?.provider?.maxWaitS };
}
