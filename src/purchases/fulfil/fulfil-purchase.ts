import { adapterFor, connectionOf } from '../../providers/get-adapter.js';
import type { ProviderOutcome } from '../../providers/adapter.js';
import { accountById } from '../../accounts/find-account.js';
import { nowMs } from '../../shared/clock.js';
import { applyOutcome, type Next } from './apply-outcome.js';
import { claimOrder, openOrderOf, requestOf, prepareNextOrder } from './orders.js';
import type { Order } from '../order.model.js';
import { checkOrder } from './check-order.js';
import { postpone } from './postpone.js';
import { concludeFailure } from './conclude-failure.js';
import { isFinal, StalePurchaseError } from '../states.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';

/** A purchase that nobody can serve for this long is given back. */
const waitForRouteMs = 10 * 60_000;
const retryRouteMs = 10_000;

/**
 * Takes an accepted purchase to a provider and onwards (docs/money.md#from-the-commit-to-the-provider). Every job of
 * every queue that concerns a purchase ends here; it is safe to run twice, at once, and after any crash, because each
 * step is a conditional write that only one caller can win.
 * @param options.askNow The provider called about it: ask before the schedule would.
 */
export async function fulfilPurchase(
  purchaseId: string,
  options: { askNow: boolean } = { askNow: false },
): Promise<void> {
  let next: Next = 'again';
  while (next === 'again') {
    try {
      next = await takeStep(purchaseId, options);
    } catch (error) {
      if (!(error instanceof StalePurchaseError)) {
        throw error;
      }
      // Somebody else moved it: look again, and most likely there is nothing left to do.
    }
  }
}

async function takeStep(purchaseId: string, options: { askNow: boolean }): Promise<Next> {
  const purchase = await PurchaseModel.findById(purchaseId).lean<Purchase>();
  if (!purchase || isFinal(purchase.status) || purchase.reviewSince !== null) {
    return 'done';
  }
  const open = await openOrderOf(purchaseId);
  if (open && open.status !== 'PREPARED') {
    // It may have reached the provider. Ask; never send it again.
    return checkOrder(purchase, open, options);
  }
  const order = open ?? (await prepareNextOrder(purchase));
  if ('noRoute' in order) {
    return waitOrGiveBack(purchase, order.noRoute);
  }
  const claimed = await claimOrder(purchase, order);
  if (!claimed) {
    // Another worker won it between our read and our write.
    return 'done';
  }
  const outcome = await buy(claimed.purchase, claimed.order);
  return applyOutcome(claimed.purchase, claimed.order, outcome);
}

async function buy(purchase: Purchase, order: Order): Promise<ProviderOutcome> {
  const adapter = adapterFor(order.providerKind);
  const connection = connectionOf(await accountById(order.sellerId));
  const request = requestOf(purchase, order);
  return purchase.kind === 'postpaid'
    ? adapter.payBill(connection, { ...request, billTotal: purchase.price })
    : adapter.buy(connection, request);
}

/** Nobody can serve it now. A refusal that stands, or ten minutes of nobody, gives the money back. */
async function waitOrGiveBack(
  purchase: Purchase,
  noRoute: { code: string; message: string; mayChange: boolean },
): Promise<Next> {
  if (noRoute.mayChange && nowMs() - purchase.createdAt.getTime() < waitForRouteMs) {
    await postpone(purchase, retryRouteMs);
    return 'done';
  }
  await concludeFailure(purchase, null, { code: noRoute.code, message: noRoute.message });
  return 'done';
}
