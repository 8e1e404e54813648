import { masked } from '../shared/mask.js';
import { eventDeliveries, type WebhookReceiver } from '../webhooks/account-events.js';
import type { Delivery } from '../webhooks/delivery.model.js';

/** What the events tell of a settlement. Rupiah. */
export interface SettlementFacts {
  _id: string;
  refId: string | null;
  amount: number;
  fee: number;
  netAmount: number;
  bankAccount: { bankCode: string; accountNumber: string; accountName: string };
}

export function settlementCompletedDeliveries(
  seller: WebhookReceiver,
  settlement: SettlementFacts,
  completedAt: Date,
): Delivery[] {
  return eventDeliveries(seller, {
    id: `${settlement._id}-completed`,
    event: 'settlement.completed',
    refId: settlement.refId,
    data: { ...settlementData(settlement), status: 'completed', completed_at: completedAt.toISOString() },
  });
}

/** The held amount went back to the seller's balance. @param reason In words for the seller. */
export function settlementFailedDeliveries(
  seller: WebhookReceiver,
  settlement: SettlementFacts,
  reason: string,
): Delivery[] {
  return eventDeliveries(seller, {
    id: `${settlement._id}-failed`,
    event: 'settlement.failed',
    refId: settlement.refId,
    data: { ...settlementData(settlement), status: 'failed', reason },
  });
}

function settlementData(settlement: SettlementFacts) {
  const { bankCode, accountNumber, accountName } = settlement.bankAccount;
  return {
    settlement_id: settlement._id,
    ref_id: settlement.refId,
    amount: settlement.amount,
    fee: settlement.fee,
    net_amount: settlement.netAmount,
    bank_account: {
      bank_code: bankCode,
      account_number: masked(accountNumber),
      account_name: accountName,
    },
  };
}
