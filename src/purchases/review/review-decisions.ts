import { hasAdapter } from '../../providers/get-adapter.js';
import { getAskableAtMs } from '../fulfil/check-order.js';
import { tooLateCode, findOrders } from '../fulfil/orders.js';
import type { Order } from '../order.model.js';
import { type Purchase, PurchaseModel } from '../purchase.model.js';

/** Values of `topup review resolve --as`. */
export const reviewOutcomes = ['success', 'failed', 'ask'] as const;
export type ReviewOutcome = (typeof reviewOutcomes)[number];

/**
 * For each decision, null if it is possible. Otherwise the text says why not and what to do
 * instead.
 */
export type PossibleDecisions = Record<ReviewOutcome, string | null>;

/**
 * Returns the possible decisions on a purchase under review. At least one is always possible
 * (`canBeDecided`). Both the refusals and the hints for operators derive from this result.
 */
export function getPossibleDecisions(purchase: Purchase, orders: Order[]): PossibleDecisions {
  const bought = orders.find(({ status }) => status === 'OK');
  const sold = findOrderToBook(orders);
  return {
    success:
      purchase.status === 'PROCESSING' && sold
        ? null
        : 'No order was sent, so no provider has executed it. Decide failed, or ask for the next seller.',
    failed: bought
      ? `${explainAlreadyBought(bought)} To return the money, reverse the sale after that.`
      : null,
    ask: bought ? explainAlreadyBought(bought) : explainNotAskable(findOpenOrder(orders)),
  };
}

export function getAcceptedDecisions(purchase: Purchase, orders: Order[]): ReviewOutcome[] {
  const possible = getPossibleDecisions(purchase, orders);
  return reviewOutcomes.filter((each) => possible[each] === null);
}

/**
 * True if at least one decision is possible for an open purchase under review. The ledger
 * verification calls it with partial data. `failed` is possible as long as no order succeeded.
 * After that, `success` is possible if the purchase was sent. The service never writes a row
 * without a possible decision.
 */
export function canBeDecided(
  { status }: Pick<Purchase, 'status'>,
  orders: readonly { status: Order['status'] | null }[],
): boolean {
  return status === 'PROCESSING' || !orders.some((each) => each.status === 'OK');
}

/** Returns the order that may have reached its provider and has no definite response, or null. */
export function findOpenOrder(orders: Order[]): Order | null {
  return orders.find(({ open }) => open) ?? null;
}

/**
 * Returns the order on which a success is booked: the successful, the open or the last sent order,
 * in this order of preference. `orders` are oldest first.
 */
export function findOrderToBook(orders: Order[]): Order | null {
  return (
    orders.find(({ status }) => status === 'OK') ?? findOpenOrder(orders) ?? orders.findLast(wasSent) ?? null
  );
}

/**
 * True if the order may have been sent. This includes the code `not-sent`, because a gateway that
 * reported busy can be wrong.
 */
export function wasSent({ sentAt, code }: Order): boolean {
  return sentAt !== null && code !== tooLateCode;
}

function explainAlreadyBought({ _id }: Order): string {
  return `The provider's response says that attempt ${_id} succeeded. Decide success.`;
}

function explainNotAskable(order: Order | null): string | null {
  if (order?.neverAskAgain) {
    return `The provider's response to attempt ${order._id} says that it must not be queried again. ${lookUpAdvice}`;
  }
  if (order && !hasAdapter(order.providerKind)) {
    return `This release cannot query the provider of attempt ${order._id} (${order.providerKind}). ${lookUpAdvice}`;
  }
  return order && getAskableAtMs(order) === null
    ? `Attempt ${order._id} is too old for a status check: its provider might buy it again. ${lookUpAdvice}`
    : null;
}

const lookUpAdvice = "Look it up in the provider's own records, then decide success or failed.";

export interface Review {
  purchase: Purchase;
  /** Newest last. */
  orders: Order[];
  decisions: ReviewOutcome[];
}

/** Lists purchases under review, oldest first. */
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
