/**
 * Builds the webhooks and callbacks of a purchase (docs/reference/api/webhooks.md,
 * docs/reference/api/callbacks.md). These functions are pure. The posting stores their result in
 * the money transaction.
 */
import { now } from '../shared/clock.js';
import { maskNumber } from '../shared/mask.js';
import type { Purchase } from './purchase.model.js';
import type { Delivery, DeliveryEvent } from '../webhooks/deliver/delivery.model.js';
import { getEndpoints } from '../accounts/webhook-endpoint.js';
import { wantsEvent } from '../webhooks/account-events.js';
import {
  getEndpointDestination,
  buildDelivery,
  type NewDelivery,
  type UrlOwner,
} from '../webhooks/new-delivery.js';

/** `failed`: the debit was returned. `reversed`: a success was reversed later. */
export type PurchaseEvent = 'pending' | 'success' | 'failed' | 'reversed';

/**
 * Builds the deliveries of one event. The envelope goes to each subscribed endpoint of the buyer.
 * The surface's callback goes to the URL of the purchase, or else to the URL of the account. The
 * seller gets a callback when a sale becomes final.
 *
 * Ids derive from the purchase and the event, so storing an event twice is a duplicate key.
 * @param parts.purchase The purchase after the event.
 * @param parts.seller The seller of the sale. Null if no seller was tried.
 */
export function buildPurchaseDeliveries(parts: {
  purchase: Purchase;
  buyer: UrlOwner;
  seller: UrlOwner | null;
  event: PurchaseEvent;
}): Delivery[] {
  const { purchase, buyer, seller, event } = parts;
  const rows: Delivery[] = [];
  const add = (to: Destination) => {
    if (to.url !== null) {
      rows.push(
        buildDelivery({
          ...to,
          url: to.url,
          id: `${purchase._id}-${event}-${to.name}`,
          orderKey: purchase._id,
          orderRank: getEventRank(event),
          requestId: purchase.requestId,
        }),
      );
    }
  };
  const envelope = buildWebhookEnvelope(purchase, event);
  for (const endpoint of getEndpoints(buyer).filter((each) => wantsEvent(each, webhookEvents[event]))) {
    const destination = getEndpointDestination(endpoint);
    add({
      ...destination,
      name: destination.endpointId ?? 'webhook',
      accountId: buyer._id,
      event: webhookEvents[event],
      refId: purchase.refId,
      payload: envelope,
    });
  }
  if (event !== 'pending') {
    const callback = buildBuyerCallback(purchase, event);
    if (callback) {
      add({
        name: 'callback',
        accountId: buyer._id,
        channel: purchase.callbackUrl === null ? 'callback' : 'own',
        url: purchase.callbackUrl ?? buyer.callbackUrl,
        refId: purchase.refId,
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
        refId: purchase._id,
        payload: buildSellerCallback(purchase, event),
      });
    }
  }
  return rows;
}

interface Destination extends Omit<NewDelivery, 'id' | 'url' | 'orderKey' | 'orderRank'> {
  /** Last part of the delivery's id: the kind of destination, or the id of the endpoint. */
  name: string;
  url: string | null;
}

const webhookEvents = {
  pending: 'transaction.pending',
  success: 'transaction.success',
  failed: 'transaction.failed',
  reversed: 'transaction.failed',
} as const satisfies Record<PurchaseEvent, DeliveryEvent>;

/** Returns the rank of an event. A delivery supersedes deliveries with a lower rank. */
function getEventRank(event: PurchaseEvent): number {
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

function toWireStatus(event: PurchaseEvent): WireStatus {
  return event === 'reversed' ? 'failed' : event;
}

function buildWebhookEnvelope(purchase: Purchase, event: PurchaseEvent) {
  return {
    event: webhookEvents[event],
    data: {
      ref_id: purchase.refId,
      transaction_id: purchase._id,
      code: purchase.productCode,
      customer_number: purchase.customerNumber,
      status: toWireStatus(event),
      sn: purchase.serialNumber,
      price: purchase.price,
      timestamp: purchase.createdAt.toISOString(),
      ...(purchase.message !== null && { message: purchase.message }),
    },
    timestamp: now().toISOString(),
  };
}

function buildBuyerCallback(
  purchase: Purchase,
  event: Exclude<PurchaseEvent, 'pending'>,
): { event: DeliveryEvent; payload: object } | null {
  switch (purchase.surface) {
    case 'wallet':
      return { event: 'callback.wallet', payload: buildWalletCallback(purchase, event) };
    case 'reseller':
      return {
        event: 'callback.reseller',
        payload: buildResellerCallback(purchase, event, {
          refId: purchase.refId,
          customerNumber: purchase.customerNumber,
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

function buildWalletCallback(purchase: Purchase, event: Exclude<PurchaseEvent, 'pending'>) {
  return {
    code: purchase._id,
    ref_id: purchase.refId,
    status: walletStatuses[event],
    serial_number: purchase.serialNumber,
    price: purchase.price,
    message: purchase.message ?? defaultMessages[event],
  };
}

function buildResellerCallback(
  purchase: Purchase,
  event: Exclude<PurchaseEvent, 'pending'>,
  { refId, customerNumber }: { refId: string; customerNumber: string },
) {
  return {
    ref_id: refId,
    code: purchase.productCode,
    customer_number: customerNumber,
    status: toWireStatus(event),
    ...(purchase.serialNumber !== null && { sn: purchase.serialNumber }),
    message: purchase.message ?? defaultMessages[event],
  };
}

/**
 * Builds the seller's callback. It hides the buyer: the reference is ours, and the customer number
 * is masked.
 */
function buildSellerCallback(purchase: Purchase, event: Exclude<PurchaseEvent, 'pending'>) {
  return buildResellerCallback(purchase, event, {
    refId: purchase._id,
    customerNumber: maskNumber(purchase.customerNumber),
  });
}
