import { masked } from '../shared/mask.js';
import type { EndpointOwner } from '../accounts/webhook-endpoint.js';
import { eventDeliveries } from '../webhooks/account-events.js';
import type { Delivery } from '../webhooks/delivery.model.js';
import { settlementFigures } from './settlement-figures.js';
import type { Settlement } from './settlement.model.js';

/** What the events tell of a settlement. Rupiah. */
export type SettlementFacts = Pick<
  Settlement,
  '_id' | 'refId' | 'amount' | 'fee' | 'netAmount' | 'bankAccount' | 'requestId'
>;

export function settlementCompletedDeliveries(
  seller: EndpointOwner,
  settlement: SettlementFacts,
  completedAt: Date,
): Delivery[] {
  return eventDeliveries(seller, {
    id: `${settlement._id}-completed`,
    event: 'settlement.completed',
    refId: settlement.refId,
    requestId: settlement.requestId,
    data: { ...settlementData(settlement), status: 'completed', completed_at: completedAt.toISOString() },
  });
}

/** The held amount went back to the seller's balance. @param reason In words for the seller. */
export function settlementFailedDeliveries(
  seller: EndpointOwner,
  settlement: SettlementFacts,
  reason: string,
): Delivery[] {
  return eventDeliveries(seller, {
    id: `${settlement._id}-failed`,
    event: 'settlement.failed',
    refId: settlement.refId,
    requestId: settlement.requestId,
    data: { ...settlementData(settlement), status: 'failed', reason },
  });
}

function settlementData(settlement: SettlementFacts) {
  const { bankCode, accountNumber, accountName } = settlement.bankAccount;
  return {
    ...settlementFigures(settlement),
    bank_account: {
      bank_code: bankCode,
      account_number: masked(accountNumber),
      account_name: accountName,
    },
  };
}
