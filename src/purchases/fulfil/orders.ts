import { QuoteModel, type Quote } from '../../bills/quote.model.js';
import type { ProviderOrder } from '../../providers/adapter.js';
import { chooseRoute } from '../../providers/choose-route.js';
import { adapterFor } from '../../providers/get-adapter.js';
import { now, nowMs } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import { inTransaction, isDuplicateKey } from '../../database/mongo.js';
import { OrderModel, orders, toStored, type Order } from '../order.model.js';
import { graceMs } from './enqueue-purchase.js';
import { newOrder } from './new-order.js';
import { moveTo, StalePurchaseError } from '../states.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';

/** Codes of orders that certainly never bought anything, so that the same seller may be tried again. */
export const notExecutedCodes: readonly string[] = ['not-sent', 'not-executed'];

/** A sale that is still being sent when its lease ends is asked about by others; see check-order.ts. */
const leaseMarginMs = 2_000;
/** A seller that could not be reached is left alone for this long. */
const retryPauseMs = 5_000;

export async function openOrderOf(purchaseId: string): Promise<Order | null> {
  return OrderModel.findOne({ transactionId: purchaseId, open: true }).lean<Order>();
}

/** What the provider is asked for. Its reference is ours, never the client's. */
export function requestOf(purchase: Purchase, order: Order): ProviderOrder {
  return {
    providerRef: order._id,
    productCode: purchase.productCode,
    customerNumber: purchase.customerNumber,
    costMax: order.offerPrice,
    // A status check must ask for what was sent: a bill's payment and a purchase are different calls.
    billTotal: purchase.kind === 'postpaid' ? purchase.price : null,
    sentAt: order.sentAt,
    lastCheckAt: order.lastCheckAt,
  };
}

export interface NoRoute {
  noRoute: { code: string; message: string; mayChange: boolean };
}

/**
 * Writes the next order (PREPARED, nothing sent): the cheapest seller that can serve within the price debited
 * and has not refused this purchase.
 * @throws StalePurchaseError if another worker wrote one at the same time, or one has bought it already.
 */
export async function prepareNextOrder(purchase: Purchase): Promise<Order | NoRoute> {
  const before = await OrderModel.find({ transactionId: purchase._id }).sort({ n: 1 }).lean<Order[]>();
  if (before.some(({ open, status }) => open || status === 'OK')) {
    throw new StalePurchaseError(`Transaction ${purchase._id} has an attempt that counts`);
  }
  const refused = before.filter((each) => !notExecutedCodes.includes(each.code ?? ''));
  const choice = await chooseRoute({
    productCode: purchase.productCode,
    priceMax: purchase.price,
    preferSellerId: await quotedSeller(purchase),
    excludeSellerIds: sellersToAvoid(before),
  });
  if ('reason' in choice) {
    const last = refused.at(-1);
    return last && refused.length === before.length
      ? { noRoute: { code: last.code ?? '01', message: last.message ?? 'Refused.', mayChange: false } }
      : { noRoute: { code: '03', message: 'No seller can serve this product now.', mayChange: true } };
  }
  const order = newOrder({
    transactionId: purchase._id,
    n: before.length + 1,
    sellerId: choice.sellerId,
    // A bill costs what it says, whatever the seller's offer adds to it.
    offerPrice: purchase.kind === 'postpaid' ? purchase.price : choice.price,
    commissionRate: choice.commissionRate,
    providerKind: choice.providerKind,
  });
  try {
    await orders.insertOne(toStored(order));
  } catch (error) {
    if (isDuplicateKey(error)) {
      throw new StalePurchaseError(`Another worker prepared an attempt of ${purchase._id}`);
    }
    throw error;
  }
  return order;
}

async function quotedSeller({ quoteId }: Purchase): Promise<string | undefined> {
  return quoteId === null ? undefined : (await QuoteModel.findById(quoteId).lean<Quote>())?.sellerId;
}

/** Whoever refused it, and whoever could not be reached a moment ago. */
function sellersToAvoid(orders: Order[]): string[] {
  const pauseEndsMs = nowMs() - retryPauseMs;
  return orders
    .filter((each) => !notExecutedCodes.includes(each.code ?? '') || each.updatedAt.getTime() > pauseEndsMs)
    .map((each) => each.sellerId);
}

/**
 * PREPARED -> SENT under a lease, and PENDING -> PROCESSING, in one database transaction and *before* anything
 * goes out: if the process dies now, others ask the provider instead of sending again. The version rises with each
 * order, so that whoever still holds an earlier view (a late answer of the last seller, "nobody can serve it")
 * can neither refund nor settle what is on its way now.
 * @returns null if somebody else claimed it first.
 * @throws StalePurchaseError if the purchase has changed since it was read: nothing was claimed.
 */
export async function claimOrder(
  purchase: Purchase,
  order: Order,
): Promise<{ purchase: Purchase; order: Order } | null> {
  const leaseMs = adapterFor(order.providerKind).traits.timeoutMs + leaseMarginMs;
  const leaseUntil = new Date(nowMs() + leaseMs);
  const claim = { status: 'SENT' as const, leaseToken: newId(), leaseUntil, sentAt: now(), updatedAt: now() };
  const nextActionAt = new Date(leaseUntil.getTime() + graceMs(purchase.epoch));
  const work = inTransaction(async (session) => {
    const result = await OrderModel.updateOne(
      { _id: order._id, status: 'PREPARED' },
      { $set: claim },
      { session },
    );
    if (result.matchedCount === 0) {
      return null;
    }
    if (purchase.status === 'PENDING') {
      const moved = await moveTo(session, purchase, 'PROCESSING', {
        nextActionAt,
        sellerId: order.sellerId,
      });
      return { purchase: moved, order: { ...order, ...claim } };
    }
    // Another worker may have settled it, or sent another order, since it was read: then nothing may go out. The
    // version rises with every sending, so that whoever still holds the older state can settle nothing either.
    const sent = await PurchaseModel.updateOne(
      { _id: purchase._id, status: 'PROCESSING', version: purchase.version, reviewSince: null },
      { $set: { nextActionAt, sellerId: order.sellerId }, $inc: { version: 1 } },
      { session },
    );
    if (sent.matchedCount === 0) {
      throw new StalePurchaseError(`Transaction ${purchase._id} changed meanwhile`);
    }
    const moved = {
      ...purchase,
      version: purchase.version + 1,
      nextActionAt,
      sellerId: order.sellerId,
    };
    return { purchase: moved, order: { ...order, ...claim } };
  });
  return work.catch(async (error: unknown) => {
    if (error instanceof StalePurchaseError) {
      await dropPrepared(order);
    }
    throw error;
  });
}

/** An order that was prepared for a purchase that others have settled meanwhile: nothing was sent. */
async function dropPrepared(order: Order): Promise<void> {
  await OrderModel.updateOne(
    { _id: order._id, status: 'PREPARED' },
    { $set: { status: 'REJECTED', open: false, code: 'not-sent', updatedAt: now() } },
  );
}
