import { getAdapter } from '../../providers/get-adapter.js';
import { post } from '../../money/posting/post.js';
import { now, nowMs } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import { orders, toStored, type Order, getOrderKey, OrderModel } from '../order.model.js';
import type { Purchase } from '../purchase.model.js';
import { buildTransition, StalePurchaseError } from '../states.js';
import { buildTotalsChanges } from '../purchase-totals.js';
import { sendWithinMs, tooLateCode } from './orders.js';
import { getGraceMs } from './fulfilment-jobs.js';
import type { Change } from '../../money/posting/posting.js';
import { sampleEnd } from '../../providers/provider-metrics.js';

export interface ClaimedOrder {
  purchase: Purchase;
  order: Order;
  /** Nothing may be sent after this time, because other processes may then check the order. */
  sendBefore: Date;
}

/**
 * Stores the order as SENT under a lease and moves the purchase to PROCESSING in one posting,
 * *before* anything is sent. If the process dies after that, others check the order instead of
 * sending it again.
 *
 * The version rises with each order. So a late response from the previous seller can neither refund
 * the purchase nor settle the new order.
 *
 * @throws StalePurchaseError if another process claimed an order, or the purchase has changed since
 *   it was read.
 */
export async function claimOrder(purchase: Purchase, prepared: Order): Promise<ClaimedOrder> {
  const { accountId } = purchase;
  const leaseMs = sendWithinMs + getAdapter(prepared.providerKind).traits.timeoutMs;
  const at = nowMs();
  const leaseUntil = new Date(at + leaseMs);
  const claim = { status: 'SENT' as const, leaseToken: newId(), leaseUntil, sentAt: now(), updatedAt: now() };
  const order = { ...prepared, ...claim };
  const { change, moved } = buildTransition(purchase, 'PROCESSING', {
    nextActionAt: new Date(leaseUntil.getTime() + getGraceMs(purchase.epoch)),
    sellerId: order.sellerId,
    queuedFor: null,
  });
  const expectOpen = { ...change, expect: { ...change.expect, reviewSince: null } };
  const result = await post({
    accountId,
    kind: 'claim',
    subjectId: order._id,
    inserts: [
      { collection: orders.collectionName, document: toStored(order), key: { accountId, _id: order._id } },
    ],
    changes: [expectOpen],
    totals: buildTotalsChanges(purchase, moved),
    proof: {
      collection: orders.collectionName,
      filter: { _id: order._id, leaseToken: claim.leaseToken },
    },
  });
  if (result.outcome !== 'posted') {
    throw new StalePurchaseError(`Transaction ${purchase._id} changed in the meantime`);
  }
  return { purchase: moved, order, sendBefore: new Date(at + sendWithinMs) };
}

/**
 * Builds the change that closes an order in the posting of its outcome. If the order was already
 * closed when it was read, it must not have changed since: the operator may correct it.
 *
 * A refund fails if the order was marked `neverAskAgain` meanwhile. Only a caller that has read the
 * mark may refund.
 */
export function buildOrderClosing(
  order: Order,
  to: Pick<Order, 'status' | 'code' | 'message'> & Partial<Pick<Order, 'serialNumber'>>,
): Change {
  return {
    collection: orders.collectionName,
    id: order._id,
    expect: order.open
      ? { open: true, ...(to.status === 'REJECTED' && buildNotMarkedCondition(order)) }
      : { open: false, status: order.status },
    set: { ...to, open: false, updatedAt: now() },
  };
}

/** Returns the condition that the order was not marked `neverAskAgain` since it was read. */
export function buildNotMarkedCondition({ neverAskAgain }: Order): { neverAskAgain?: null } {
  return neverAskAgain ? {} : { neverAskAgain: null };
}

/**
 * Closes an order that the provider certainly did not and will not execute. The debit stays for the
 * next order.
 * @param expect Further conditions on the order.
 * @returns False if a condition fails or another process checks the order. That process then
 *   decides the outcome.
 */
export async function rejectOrder(
  order: Order,
  reason: { code: string; message: string },
  expect: { acknowledged?: null } = {},
): Promise<boolean> {
  const { matchedCount } = await OrderModel.updateOne(
    {
      ...getOrderKey(order),
      open: true,
      leaseToken: order.leaseToken,
      ...buildNotMarkedCondition(order),
      ...expect,
    },
    { $set: { status: 'REJECTED', open: false, ...reason, updatedAt: now() } },
  );
  if (matchedCount > 0 && reason.code !== tooLateCode) {
    sampleEnd(order.sellerId, 'failed');
  }
  return matchedCount > 0;
}
