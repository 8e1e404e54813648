import { getAdapter, buildConnection } from '../../providers/get-adapter.js';
import type { ProviderConnection, ProviderOutcome } from '../../providers/adapter.js';
import { admitOrder, type Admission } from '../../providers/admission.js';
import { getMaxWaitMs, getPromisedWaitMs, type WaitLimits } from '../../providers/backlog.js';
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

/** A turn that has not come is looked at again so soon: by then the provider may be one that is asked nothing. */
const nextTurnMaxMs = 1_000;
/** After an order that did not leave in its time: at first it was an accident. */
const afterLateMs = { first: 1_000, most: 30_000 };
/** So many orders one after the other that did not leave in their time are no accident. */
const lateMax = 5;
/** More than all sellers of a product, and others that change it meanwhile. Whatever takes more goes round in circles. */
const stepsMax = 100;

/**
 * Takes an accepted purchase to a provider and onwards (docs/explanation/life-of-a-purchase.md#from-the-commit-to-the-provider). Every job of
 * every queue that concerns a purchase ends here; it is safe to run twice, at once, and after any crash, because each
 * step is a conditional posting that only one caller can win.
 * @param how.askNow The provider called about it: ask before the schedule would. `turnAt`: it is its turn in the queue of
 *   this seller's provider; anywhere else it gets in line, and null is its turn nowhere. Absent: there are no lines, and
 *   it is sent wherever it goes.
 * @returns `tooEarly` if it was not time to ask the provider.
 * @throws RequeueJobError if the provider takes no order just now; DeferJobError if the order did not leave in its time, which says
 *   nothing about the provider; Error if it comes to no end: the sweep adds another job later.
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
      // Somebody else moved it: look again, and most likely there is nothing left to do.
    }
  }
  throw new Error(`Transaction ${which.purchaseId} was not finished in ${stepsMax} steps`);
}

interface FulfilmentRun {
  askNow: boolean;
  turnAt: string | null | undefined;
  /** Sellers that cannot be asked for a reason of ours. */
  unreachable: Set<string>;
}

async function takeStep(which: PurchaseData, visit: FulfilmentRun): Promise<NextStep> {
  const { askNow, turnAt } = visit;
  const purchase = await loadPurchase(which);
  if (!purchase || isFinal(purchase.status) || purchase.reviewSince !== null) {
    return 'done';
  }
  if (turnAt && purchase.queuedFor && purchase.queuedFor !== turnAt) {
    // It went on to another queue, where it has a job. This one was left behind.
    return 'done';
  }
  const orders = await findOrders(purchase);
  const open = orders.find((each) => each.open);
  if (open) {
    // It may have reached the provider. Ask; never send it again.
    return checkOrder(purchase, open, { askNow });
  }
  if (orders.some(({ status }) => status === 'OK')) {
    await putUnderReview(purchase, 'An attempt was bought, but the transaction is open.');
    return 'done';
  }
  return sendNextOrder(purchase, orders, visit);
}

/** Sends the next order if it is its turn; otherwise the purchase gets in line where its turn will come. */
async function sendNextOrder(
  purchase: Purchase,
  orders: Order[],
  { turnAt, unreachable }: FulfilmentRun,
): Promise<NextStep> {
  const late = orders.length - 1 - orders.findLastIndex(({ code }) => code !== tooLateCode);
  if (late > 0 && !(await isTimeKnown())) {
    throw new DeferJobError(afterLateMs.first);
  }
  const order = await prepareNextOrder(purchase, orders, { unreachable, turnAt });
  if ('noRoute' in order) {
    return waitOrRefund(purchase, order.noRoute);
  }
  // What is late again and again comes to an end as well.
  const waitMaxMs = (late < lateMax ? getPromisedWaitMs : getMaxWaitMs)(await getWaitLimits(purchase));
  if (getWaitedMs(purchase) >= waitMaxMs) {
    return refundOverdue(purchase);
  }
  if (turnAt !== undefined && order.sellerId !== turnAt) {
    await queueAtProvider(purchase, order.sellerId);
    return 'done';
  }
  // Before the claim: settings that cannot be read must not leave an order behind that was never sent.
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
      const delayMs = Math.min(afterLateMs.most, afterLateMs.first * 2 ** late);
      await requeueInPlace(claimed.purchase, turnAt ?? null, delayMs);
      throw new DeferJobError(delayMs);
    }
    return await applyOutcome(claimed.purchase, claimed.order, outcome);
  } finally {
    // Where it has not ended its turn itself.
    await turn.release({ sent: false });
  }
}

/** It waits in the same line as before: whoever loses its job now finds it there, not at the end. */
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

/** Null where our own settings for the seller are at fault: the operator is told, and others are asked meanwhile. */
async function findConnection(seller: Account, order: Order): Promise<ProviderConnection | null> {
  try {
    return buildConnection(seller, order);
  } catch (error) {
    logger.error('a provider cannot be asked: its settings are wrong', { sellerId: order.sellerId, error });
    await openCircuit(order.sellerId, 'configuration');
    return null;
  }
}

/**
 * The place at the provider is free as soon as it has answered, whatever is written afterwards.
 * @returns null for an order that did not leave in its time. It is closed; its seller is not at fault, and the next one goes there.
 * @throws StalePurchaseError for one that others have asked about meanwhile.
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
      throw new StalePurchaseError(`Others ask about order ${order._id} by now`);
    }
    return null;
  }
  await turn.release({ sent: true });
  return outcome;
}

/** Nobody can serve it now. A refusal that stands, or nobody for the longest wait, gives the money back. */
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

/** With nothing of it at a provider: nobody could serve it, or its turn did not come, for as long as it may wait. */
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

/** Its product by what it said at acceptance, the provider of the seller at whose offer it was accepted by what it says now. */
async function getWaitLimits({ offerSellerId, maxWaitS }: Purchase): Promise<WaitLimits> {
  return { product: maxWaitS, provider: (await getRoutingSellers()).get(offerSellerId)?.provider?.maxWaitS };
}
