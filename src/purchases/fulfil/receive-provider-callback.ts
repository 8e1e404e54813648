import { getExistingAccount } from '../../accounts/find-account.js';
import { getAdapter, buildConnection } from '../../providers/get-adapter.js';
import { UnauthorizedError, ValidationError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { logger } from '../../shared/logger.js';
import { OrderModel, type Order } from '../order.model.js';
import { applyCallback, type SignedCallback } from './apply-callback.js';
import { loadPurchase, requestCheckNow } from './fulfilment-jobs.js';
import { appendReviewNote } from './put-under-review.js';
import { openCase } from './record-cases.js';
import { enqueueVerification } from './reverse-sale.js';

export interface InboundCallback {
  protocol: 'h2h' | 'digiflazz' | 'iak';
  /** The raw body, which the signature covers. */
  raw: Buffer;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * Receives a provider's callback about an order (decision 018). A signed outcome that is final and
 * agrees with the open order is applied at once. Any other signed callback triggers a status check,
 * whose response moves the money. So repeated, late and reordered callbacks are harmless.
 *
 * A callback that contradicts a closed order is verified or opens a case.
 *
 * @throws ValidationError if the body is not a valid callback.
 * @throws UnauthorizedError if the order is unknown or the signature is wrong. The caller cannot
 *   distinguish these cases.
 */
export async function receiveProviderCallback(callback: InboundCallback): Promise<void> {
  const parsed = getAdapter(callback.protocol).readCallback(callback.raw);
  if (!parsed) {
    throw new ValidationError([{ field: 'body', message: say('noCallback') }]);
  }
  if (parsed.kind === 'ping') {
    return;
  }
  const order = await OrderModel.findById(parsed.providerRef).lean<Order>();
  const signed = order && (await verifySignature(order, callback));
  if (!signed) {
    // Use one error for both cases, so that callers cannot probe for orders.
    throw new UnauthorizedError(say('callbackSignatureWrong'), 'invalid_signature');
  }
  const isApplied = order.open && (await applyCallback(order, signed));
  logger.info('provider callback', {
    orderId: order._id,
    purchaseId: order.transactionId,
    sellerId: order.sellerId,
    says: parsed.status,
    isApplied,
  });
  if (isApplied) {
    return;
  }
  if (order.open) {
    await requestStatusCheck(order, parsed.status);
  } else if (parsed.status !== 'pending') {
    await checkContradiction(order, parsed.status);
  }
}

/** Returns null if the order's provider does not speak this protocol or the signature is wrong. */
async function verifySignature(
  order: Order,
  { protocol, raw, headers }: InboundCallback,
): Promise<SignedCallback | null> {
  if ((order.providerKind === 'simulator' ? 'h2h' : order.providerKind) !== protocol) {
    return null;
  }
  const seller = await getExistingAccount(order.sellerId);
  const connection = buildConnection(seller, order);
  return seller.provider && getAdapter(protocol).isCallbackSigned(connection, raw, headers)
    ? { raw, connection, provider: seller.provider }
    : null;
}

async function requestStatusCheck(order: Order, reported: string): Promise<void> {
  const { transactionId: _id, accountId } = order;
  const purchase = await loadPurchase({ purchaseId: _id, accountId });
  if (purchase?.reviewSince) {
    await appendReviewNote(purchase, `The provider's callback reports ${reported}.`);
  } else {
    await requestCheckNow({ _id, accountId, requestId: purchase?.requestId });
  }
}

async function checkContradiction(order: Order, reported: 'success' | 'failed'): Promise<void> {
  const { transactionId: purchaseId, accountId } = order;
  if (order.status === 'OK' && reported === 'failed') {
    // The provider may have reversed the sale. Ask the provider to confirm this (reverse-sale.ts).
    await enqueueVerification({ _id: purchaseId, accountId }, 0);
  } else if (order.status === 'REJECTED' && reported === 'success') {
    await openCase({
      transactionId: purchaseId,
      kind: 'contradicting-answer',
      detail: `Attempt ${order.n} was refused or not executed, but a signed callback reports success.`,
    });
  }
}
