import { hasAdapter } from '../../providers/get-adapter.js';
import { getAskableAtMs } from '../fulfil/check-order.js';
import { tooLateCode, findOrders } from '../fulfil/orders.js';
import type { Order } from '../order.model.js';
import { type Purchase, PurchaseModel } from '../purchase.model.js';

/** The words of `topup review resolve --as`. */
export const reviewOutcomes = ['success', 'failed', 'ask'] as const;
export type ReviewOutcome = (typeof reviewOutcomes)[number];

/** For each decision: null where it is possible, otherwise why not and what to do instead. */
export type PossibleDecisions = Record<ReviewOutcome, string | null>;

/**
 * What the operator can decide about a purchase under review, by what is stored about it. At least one is always
 * possible (`canBeDecided`). The service refuses by this, and every hint is made from it.
 */
export function getPossibleDecisions(purchase: Purchase, orders: Order[]): PossibleDecisions {
  const bought = orders.find(({ status }) => status === 'OK');
  const sold = findOrderToBook(orders);
  return {
    success:
      purchase.status === 'PROCESSING' && sold
        ? null
        : 'No order was ever sent, so nobody can have executed it. Decide failed, or ask for the next seller.',
    failed: bought
      ? `${explainAlreadyBought(bought)} To give the money back, take the sale back after that.`
      : null,
    ask: bought ? explainAlreadyBought(bought) : explainNotAskable(findOpenOrder(orders)),
  };
}

export function getAcceptedDecisions(purchase: Purchase, orders: Order[]): ReviewOutcome[] {
  const possible = getPossibleDecisions(purchase, orders);
  return reviewOutcomes.filter((each) => possible[each] === null);
}

/**
 * The same of what is only known in part, as when the ledger is verified: whether any decision is left for an open purchase under
 * review. `failed` is, until something was bought, and then `success`, of a purchase that was sent. A row in which none is left
 * was not written by the service.
 */
export function canBeDecided(
  { status }: Pick<Purchase, 'status'>,
  orders: readonly { status: Order['status'] | null }[],
): boolean {
  return status === 'PROCESSING' || !orders.some((each) => each.status === 'OK');
}

/** The order that may have reached its provider and has no certain answer. */
export function findOpenOrder(orders: Order[]): Order | null {
  return orders.find(({ open }) => open) ?? null;
}

/** Whose sale a success is: what was bought, what is open, or what was sent last. Orders are the oldest first. */
export function findOrderToBook(orders: Order[]): Order | null {
  return (
    orders.find(({ status }) => status === 'OK') ?? findOpenOrder(orders) ?? orders.findLast(wasSent) ?? null
  );
}

/** It may have left us. One that is `not-sent` may have, too: a gateway that said it was busy can be wrong. */
export function wasSent({ sentAt, code }: Order): boolean {
  return sentAt !== null && code !== tooLateCode;
}

function explainAlreadyBought({ _id }: Order): string {
  return `Attempt ${_id} was bought, by the provider's own answer. Decide success.`;
}

function explainNotAskable(order: Order | null): string | null {
  if (order?.neverAskAgain) {
    return `The provider's answer to attempt ${order._id} says that it must not be asked again. ${lookUpAdvice}`;
  }
  if (order && !hasAdapter(order.providerKind)) {
    return `This release cannot ask the provider of attempt ${order._id} (${order.providerKind}). ${lookUpAdvice}`;
  }
  return order && getAskableAtMs(order) === null
    ? `Attempt ${order._id} is too old to ask its provider about: it might buy it again. ${lookUpAdvice}`
    : null;
}

const lookUpAdvice = "Look it up in the provider's own record, then decide success or failed.";

export interface Review {
  purchase: Purchase;
  /** Newest last. */
  orders: Order[];
  /** What the service accepts now. */
  decisions: ReviewOutcome[];
}

/** Purchases that wait for the operator's decision, the oldest first. */
export async function listReviews({ limit }: { limit: number }): Promise<Review[]> {
  const purchases = await PurchaseModel.find({ reviewSince: { $type: 'date' } })
    .sort({ reviewSince: 1 })
    .limit(limit)
    .lean<Purchase[]>();
  const orders = (await Promise.all(purchases.map(findOrders))).flat();
  return purchases.map((purchase) => {
    const own = orders.filter(({ transactionId: purchaseId }) => purchaseId === purchase._id);
    return { purchase, orders: own, decisions: getAcceptedDecisions(purchase, own) };
  });
}
