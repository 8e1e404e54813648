import { getAdapter } from '../../providers/get-adapter.js';
import { post } from '../../money/posting/post.js';
import { now, nowMs } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import { orders, toStored, type Order } from '../order.model.js';
import type { Purchase } from '../purchase.model.js';
import { buildTransition, StalePurchaseError } from '../states.js';
import { buildTotalsChanges } from '../totals-of.js';
import { sendWithinMs } from './orders.js';
import { graceMs } from './purchase-outbox.js';

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
