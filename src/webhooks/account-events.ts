/** Events to `webhook_url` that are not about a purchase (interface part 6; decisions.md 8, 9, 17.22). */
import type { Account } from '../accounts/account.model.js';
import { now } from '../shared/clock.js';
import { newId } from '../shared/ids.js';
import type { Deposit } from '../wallets/deposit.model.js';
import type { Delivery, DeliveryEvent } from './delivery.model.js';
import { newDelivery } from './new-delivery.js';

type WebhookReceiver = Pick<Account, '_id' | 'webhookUrl'>;

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

/** A deposit that waited (DEPOSIT_MODE=confirm) was credited. */
export function depositCompletedDeliveries(buyer: WebhookReceiver, deposit: Deposit): Delivery[] {
  return eventDeliveries(buyer, {
    id: `${deposit._id}-completed`,
    event: 'deposit.completed',
    refId: deposit.refId,
    data: {
      ref_id: deposit.refId,
      amount: deposit.amount,
      balance_before: deposit.balanceBefore,
      balance_after: deposit.balanceAfter,
      status: 'completed',
      timestamp: (deposit.completedAt ?? now()).toISOString(),
    },
  });
}

/**
 * Tells the old webhook URL that the configuration changed, so that a change by a stranger is noticed. New values
 * are left out: the old URL may belong to somebody else by now.
 * @param before The account before the change.
 */
export function configUpdatedDeliveries(before: WebhookReceiver, changed: string[]): Delivery[] {
  return eventDeliveries(before, { id: newId(), event: 'config.updated', refId: null, data: { changed } });
}

/** The event of a test that the account asked for. */
export function pingDeliveries(account: WebhookReceiver): Delivery[] {
  return eventDeliveries(account, {
    id: newId(),
    event: 'ping',
    refId: null,
    data: { message: 'This is a test of your webhook URL.' },
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
      account_number: '*'.repeat(Math.max(0, accountNumber.length - 4)) + accountNumber.slice(-4),
      account_name: accountName,
    },
  };
}

/** Interface 2.14. No row if the account has no webhook URL. */
function eventDeliveries(
  account: WebhookReceiver,
  of: { id: string; event: DeliveryEvent; refId: string | null; data: object },
): Delivery[] {
  if (account.webhookUrl === null) {
    return [];
  }
  return [
    newDelivery({
      id: of.id,
      accountId: account._id,
      channel: 'webhook',
      url: account.webhookUrl,
      event: of.event,
      refId: of.refId,
      payload: { event: of.event, data: of.data, timestamp: now().toISOString() },
    }),
  ];
}
