import { formatIsoTime } from '../shared/business-time.js';
import type { Deposit } from './deposit.model.js';
import { now } from '../shared/clock.js';
import type { EndpointOwner } from '../accounts/webhook-endpoint.js';
import { buildEventDeliveries } from '../webhooks/account-events.js';
import type { Delivery } from '../webhooks/deliver/delivery.model.js';

/** Presents a deposit in responses, reports and events (docs/reference/api/deposits.md). */
export function presentDeposit(deposit: Deposit, zone?: string) {
  return {
    ref_id: deposit.refId,
    amount: deposit.amount,
    balance_before: deposit.balanceBefore,
    balance_after: deposit.balanceAfter,
    status: deposit.status,
    timestamp: formatIsoTime(deposit.createdAt, zone),
  };
}

/** Builds the deliveries of `deposit.completed`, sent when a pending deposit is credited. */
export function buildDepositCompletedDeliveries(buyer: EndpointOwner, deposit: Deposit): Delivery[] {
  return buildEventDeliveries(buyer, {
    id: `${deposit._id}-completed`,
    event: 'deposit.completed',
    refId: deposit.refId,
    data: {
      ...presentDeposit(deposit),
      status: 'completed',
      timestamp: (deposit.completedAt ?? now()).toISOString(),
    },
  });
}
