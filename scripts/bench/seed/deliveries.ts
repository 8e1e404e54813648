/** Webhooks of purchases in every state, and receivers that do not respond. */
import {
  deliveries,
  type Delivery,
  type DeliveryState,
} from '../../../src/webhooks/deliver/delivery.model.js';
import { buildDelivery, getReceiverId } from '../../../src/webhooks/new-delivery.js';
import { receivers } from '../../../src/webhooks/receivers/receiver.model.js';
import type { Customer } from './people.js';
import type { Sale } from './make-sale.js';
import type { SeedContext } from './write-sale.js';

const hourMs = 3_600_000;
const retentionMs = 30 * 24 * hourMs;
/** Share of each state, per thousand deliveries. */
const shares: [DeliveryState, number][] = [
  ...([
    ['dead', 20],
    ['held', 10],
    ['dropped', 5],
    ['due', 5],
    ['delivered', 960],
  ] as const),
] as [DeliveryState, number][];

export function addDeliveries(
  { writer, chance }: Pick<SeedContext, 'writer' | 'chance'>,
  buyer: Customer,
  sale: Sale,
): void {
  const { purchase, endMs } = sale;
  const event = purchase.status === 'FAILED' ? 'transaction.failed' : 'transaction.success';
  const state = stateOf(chance.below(1_000));
  const row = buildDelivery({
    id: chance.idAt(endMs),
    accountId: buyer.id,
    channel: 'webhook',
    url: buyer.webhookUrl,
    event,
    refId: purchase.refId,
    orderKey: purchase._id,
    orderRank: 1,
    payload: {
      event,
      data: {
        transaction_id: purchase._id,
        ref_id: purchase.refId,
        product_code: purchase.productCode,
        customer_number: purchase.customerNumber,
        price: purchase.price,
        status: purchase.status,
        sn: purchase.serialNumber,
        message: purchase.message,
      },
    },
  });
  writer.add(deliveries.collectionName, settleDelivery(row, state, endMs));
}

function stateOf(place: number): DeliveryState {
  let below = 0;
  for (const [state, share] of shares) {
    below += share;
    if (place < below) {
      return state;
    }
  }
  return 'delivered';
}

function settleDelivery(row: Delivery, state: DeliveryState, atMs: number): Delivery {
  const isDelivered = state === 'delivered';
  const tries = isDelivered ? 1 : state === 'dead' ? 8 : 3;
  return {
    ...row,
    state,
    createdAt: new Date(atMs),
    scheduleStartedAt: new Date(atMs),
    nextAttemptAt: state === 'due' ? new Date(Date.now() + hourMs) : null,
    attemptCount: tries,
    scheduleStep: tries,
    attempts: Array.from({ length: tries }, (_, place) => ({
      n: place + 1,
      at: new Date(atMs + place * 60_000),
      durationMs: 120,
      httpStatus: isDelivered ? 200 : 503,
      ack: isDelivered ? 'received' : null,
      answer: isDelivered ? '{"status":"received"}' : 'Service Unavailable',
      error: isDelivered ? null : 'it returned 503',
    })),
    settledAt: state === 'due' ? null : new Date(atMs + tries * 60_000),
    // The database removes expired rows through a TTL index.
    expireAt: isDelivered || state === 'dropped' ? new Date(Date.now() + retentionMs) : null,
  };
}

/** Disables the first `disabled` receivers and opens the circuit breaker of the others. */
export function addTroubledReceivers(
  { writer }: Pick<SeedContext, 'writer'>,
  { buyers, disabled }: { buyers: Customer[]; disabled: number },
): void {
  buyers.forEach(({ id, webhookUrl }, place) => {
    const isDisabled = place < disabled;
    const since = new Date(Date.now() - (place + 1) * hourMs);
    writer.add(receivers.collectionName, {
      _id: getReceiverId(id, webhookUrl),
      accountId: id,
      address: webhookUrl,
      failures: 40,
      timeouts: 5,
      failingSince: since,
      warnedAt: since,
      disabledAt: isDisabled ? since : null,
      disabledBecause: isDisabled ? 'failing' : null,
      openUntil: isDisabled ? null : new Date(Date.now() + hourMs),
      openMs: isDisabled ? 0 : hourMs,
      slowUntil: null,
    });
  });
}
