/**
 * Which webhooks and callbacks a purchase causes, and their bodies (interface 2.12, 2.14, 4.5; decisions.md 8
 * and 17). Pure functions: the core calls them inside its money transaction and stores what they return there.
 */
import type { Account } from '../accounts/account.model.js';
import { now } from '../shared/clock.js';
import { masked } from '../shared/mask.js';
import type { Transaction } from './purchase.model.js';
import type { Delivery, DeliveryChannel, DeliveryEvent } from '../webhooks/delivery.model.js';
import { newDelivery } from '../webhooks/new-delivery.js';

/** `failed`: the debit was returned. `reversed`: a success that was taken back later. */
export type TransactionEvent = 'pending' | 'success' | 'failed' | 'reversed';

/** The account's two URLs, as they are now. */
export type EventReceiver = Pick<Account, '_id' | 'webhookUrl' | 'callbackUrl'>;

/**
 * The rows of one event: the envelope to the buyer's webhook, the surface's own callback to its callback URL (or
 * the one that the transaction brought), and a callback to the seller when a sale became final.
 *
 * Ids are made from the transaction and the event, so that storing an event twice is a duplicate key.
 * @param of.transaction The transaction as it is after the event.
 * @param of.seller Who served it; null where no sale came about.
 */
export function transactionDeliveries(of: {
  transaction: Transaction;
  buyer: EventReceiver;
  seller: EventReceiver | null;
  event: TransactionEvent;
}): Delivery[] {
  const { transaction, buyer, seller, event } = of;
  const rows: Delivery[] = [];
  const add = (to: Destination) => {
    if (to.url !== null) {
      rows.push(
        newDelivery({
          ...to,
          url: to.url,
          id: `${transaction._id}-${event}-${to.name}`,
          orderKey: transaction._id,
          orderRank: rankOf(event),
        }),
      );
    }
  };
  add({
    name: 'webhook',
    accountId: buyer._id,
    channel: 'webhook',
    url: buyer.webhookUrl,
    event: webhookEvents[event],
    refId: transaction.refId,
    payload: webhookEnvelope(transaction, event),
  });
  if (event !== 'pending') {
    const callback = buyerCallback(transaction, event);
    if (callback) {
      add({
        name: 'callback',
        accountId: buyer._id,
        channel: transaction.callbackUrl === null ? 'callback' : 'own',
        url: transaction.callbackUrl ?? buyer.callbackUrl,
        refId: transaction.refId,
        ...callback,
      });
    }
    if (seller) {
      add({
        name: 'seller',
        accountId: seller._id,
        channel: 'callback',
        url: seller.callbackUrl,
        event: 'callback.reseller',
        refId: transaction._id,
        payload: sellerCallback(transaction, event),
      });
    }
  }
  return rows;
}

interface Destination {
  name: 'webhook' | 'callback' | 'seller';
  accountId: string;
  channel: DeliveryChannel;
  url: string | null;
  event: DeliveryEvent;
  refId: string;
  payload: object;
}

const webhookEvents = {
  pending: 'transaction.pending',
  success: 'transaction.success',
  failed: 'transaction.failed',
  reversed: 'transaction.failed',
} as const satisfies Record<TransactionEvent, DeliveryEvent>;

/** A later state outranks an earlier one: whoever has the later needs the earlier no more. */
function rankOf(event: TransactionEvent): number {
  switch (event) {
    case 'pending':
      return 0;
    case 'success':
    case 'failed':
      return 1;
    case 'reversed':
      return 2;
  }
}

type WireStatus = 'pending' | 'success' | 'failed';

function wireStatus(event: TransactionEvent): WireStatus {
  return event === 'reversed' ? 'failed' : event;
}

/** Interface 2.14; `message` (why it failed) is an addition. */
function webhookEnvelope(transaction: Transaction, event: TransactionEvent) {
  return {
    event: webhookEvents[event],
    data: {
      ref_id: transaction.refId,
      transaction_id: transaction._id,
      code: transaction.productCode,
      customer_number: transaction.customerNumber,
      status: wireStatus(event),
      sn: transaction.serialNumber,
      price: transaction.price,
      timestamp: transaction.createdAt.toISOString(),
      ...(transaction.message !== null && { message: transaction.message }),
    },
    timestamp: now().toISOString(),
  };
}

function buyerCallback(
  transaction: Transaction,
  event: Exclude<TransactionEvent, 'pending'>,
): { event: DeliveryEvent; payload: object } | null {
  switch (transaction.surface) {
    case 'wallet':
      return { event: 'callback.wallet', payload: walletCallback(transaction, event) };
    case 'reseller':
      return {
        event: 'callback.reseller',
        payload: resellerCallback(transaction, event, {
          refId: transaction.refId,
          customerNumber: transaction.customerNumber,
        }),
      };
    case 'buyer':
      return null;
  }
}

const walletStatuses = { success: 'SUCCESS', failed: 'FAILED', reversed: 'REFUNDED' } as const;
const defaultMessages = {
  success: 'Transaction successful',
  failed: 'Transaction failed, the debit was returned',
  reversed: 'Transaction reversed, the price was returned',
} as const;

/** Interface 2.12. */
function walletCallback(transaction: Transaction, event: Exclude<TransactionEvent, 'pending'>) {
  return {
    code: transaction._id,
    ref_id: transaction.refId,
    status: walletStatuses[event],
    serial_number: transaction.serialNumber,
    price: transaction.price,
    message: transaction.message ?? defaultMessages[event],
  };
}

/** Interface 4.5. */
function resellerCallback(
  transaction: Transaction,
  event: Exclude<TransactionEvent, 'pending'>,
  as: { refId: string; customerNumber: string },
) {
  return {
    ref_id: as.refId,
    code: transaction.productCode,
    customer_number: as.customerNumber,
    status: wireStatus(event),
    ...(transaction.serialNumber !== null && { sn: transaction.serialNumber }),
    message: transaction.message ?? defaultMessages[event],
  };
}

/** Interface 4.5 for the seller, who never learns who bought: our id for the reference, the customer masked. */
function sellerCallback(transaction: Transaction, event: Exclude<TransactionEvent, 'pending'>) {
  return resellerCallback(transaction, event, {
    refId: transaction._id,
    customerNumber: masked(transaction.customerNumber),
  });
}
