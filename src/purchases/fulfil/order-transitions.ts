import { getAdapter } from '../../providers/get-adapter.js';
import { post } from '../../money/posting/post.js';
import { now, nowMs } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import { orders, toStored, type Order, getOrderKey, OrderModel } from '../order.model.js';
import type { Purchase } from '../purchase.model.js';
import { buildTransition, StalePurchaseError } from '../states.js';
import { buildTotalsChanges } from '../purchase-totals.js';
import { sendWithinMs, tooLateCode } from './orders.js';
import { graceMs } from './fulfilment-jobs.js';
import type { Change } from '../../money/posting/posting.js';
import { sampleEnd } from '../../providers/provider-metrics.js';

export interface ClaimedOrder {
  purchase: Purchase;
  order: Order;
  /** After this nothing may be sent: others ask about the order by then. */
  sendBefore: Date;
}

/**
 * The order is SENT under a lease and the purchase PROCESSING in one posting, *before* anything goes out: if the
 * process dies now, others ask the provider instead of sending again. The version rises with each order, so that
 * whoever still holds an earlier view (a late answer of the last seller, "nobody can serve it") can neither refund nor
 * settle what is on its way now.
 * @throws StalePurchaseError if somebody else claimed one, or the purchase has changed since it was read.
 */
export async function claimOrder(purchase: Purchase, prepared: Order): Promise<ClaimedOrder> {
  const { accountId } = purchase;
  const leaseMs = sendWithinMs + getAdapter(prepared.providerKind).traits.timeoutMs;
  const at = nowMs();
  const leaseUntil = new Date(at + leaseMs);
  const claim = { status: 'SENT' as const, leaseToken: newId(), leaseUntil, sentAt: now(), updatedAt: now() };
  const order = { ...prepared, ...claim };
  const { change, moved } = buildTransition(purchase, 'PROCESSING', {
    nextActionAt: new Date(leaseUntil.getTime() + graceMs(purchase.epoch)),
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
    throw new StalePurchaseError(`Transaction ${purchase._id} changed meanwhile`);
  }
  return { purchase: moved, order, sendBefore: new Date(at + sendWithinMs) };
}

/**
 * An order gets its end, with the posting that says what that means for the money. One that was closed when it was
 * read (the operator knows better than its provider's answer) must still be as it was. Money goes back only by who has read
 * that the provider must not be asked any more, where that is so: a person.
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

/** Of an order that its reader may ask about: nobody has heard meanwhile that it must never be asked about again. */
export function buildNotMarkedCondition({ neverAskAgain }: Order): { neverAskAgain?: null } {
  return neverAskAgain ? {} : { neverAskAgain: null };
}

/**
 * The provider certainly did not and will not execute it: the order is closed, the debit stays for the next one.
 * @param expect What must still hold.
 * @returns false where that does not hold, or others have asked about it meanwhile: it is theirs.
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
