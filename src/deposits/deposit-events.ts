import { now } from '../shared/clock.js';
import type { EndpointOwner } from '../accounts/webhook-endpoint.js';
import { buildEventDeliveries } from '../webhooks/account-events.js';
import type { Delivery } from '../webhooks/delivery.model.js';
import type { Deposit } from './deposit.model.js';
import { presentDeposit } from './present-deposit.js';

/** A deposit that waited (DEPOSIT_MODE=confirm) was credited. */
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
