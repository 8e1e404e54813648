import { now } from '../../shared/clock.js';
import type { Order } from '../order.model.js';

/** An order of which nothing was sent yet (PREPARED). */
export function newOrder(
  attempt: Pick<Order, 'transactionId' | 'n' | 'sellerId' | 'offerPrice' | 'commissionRate' | 'providerKind'>,
): Order {
  const at = now();
  return {
    ...attempt,
    _id: `${attempt.transactionId}-${attempt.n}`,
    status: 'PREPARED',
    open: true,
    leaseToken: null,
    leaseUntil: null,
    sentAt: null,
    checks: 0,
    notFound: 0,
    lastCheckAt: null,
    code: null,
    message: null,
    serialNumber: null,
    createdAt: at,
    updatedAt: at,
  };
}
