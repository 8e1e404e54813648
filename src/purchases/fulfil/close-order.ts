import type { Change } from '../../money/posting/posting.js';
import { now } from '../../shared/clock.js';
import { orders, type Order } from '../order.model.js';

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
