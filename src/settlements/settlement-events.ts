import type { Settlement } from './settlement.model.js';
import { maskNumber } from '../shared/mask.js';
import type { EndpointOwner } from '../accounts/webhook-endpoint.js';
import { buildEventDeliveries } from '../webhooks/account-events.js';
import type { Delivery } from '../webhooks/deliver/delivery.model.js';

/** Returns the fields that responses and events share (docs/reference/api/settlements.md). */
export function presentSettlementFigures(
  settlement: Pick<Settlement, '_id' | 'refId' | 'amount' | 'fee' | 'netAmount'>,
) {
  return {
    settlement_id: settlement._id,
    ref_id: settlement.refId,
    amount: settlement.amount,
    fee: settlement.fee,
    net_amount: settlement.netAmount,
  };
}

/** The fields that events need. Amounts are in rupiah. */
export type SettlementFacts = Pick<
  Settlement,
  '_id' | 'refId' | 'amount' | 'fee' | 'netAmount' | 'bankAccount' | 'requestId'
>;

export function buildSettlementCompletedDeliveries(
  seller: EndpointOwner,
  settlement: SettlementFacts,
  completedAt: Date,
): Delivery[] {
  return buildEventDeliveries(seller, {
    id: `${settlement._id}-completed`,
    event: 'settlement.completed',
    refId: settlement.refId,
    requestId: settlement.requestId,
    data: { ...buildEventData(settlement), status: 'completed', completed_at: completedAt.toISOString() },
  });
}

/**
 * Builds the deliveries of `settlement.failed`, which reports that the held amount returned to the
 * seller's balance.
 * @param reason The reason, as shown to the seller.
 */
export function buildSettlementFailedDeliveries(
  seller: EndpointOwner,
  settlement: SettlementFacts,
  reason: string,
): Delivery[] {
  return buildEventDeliveries(seller, {
    id: `${settlement._id}-failed`,
    event: 'settlement.failed',
    refId: settlement.refId,
    requestId: settlement.requestId,
    data: { ...buildEventData(settlement), status: 'failed', reason },
  });
}

function buildEventData(settlement: SettlementFacts) {
  const { bankCode, accountNumber, accountName } = settlement.bankAccount;
  return {
    ...presentSettlementFigures(settlement),
    bank_account: {
      bank_code: bankCode,
      account_number: maskNumber(accountNumber),
      account_name: accountName,
    },
  };
}
