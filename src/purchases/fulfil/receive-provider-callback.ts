import { getExistingAccount } from '../../accounts/find-account.js';
import type { ProviderAdapter } from '../../providers/adapter.js';
import { getAdapter, buildConnection } from '../../providers/get-adapter.js';
import { UnauthorizedError, ValidationError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { logger } from '../../shared/logger.js';
import { OrderModel, type Order } from '../order.model.js';
import { tryToAddJob } from '../../jobs/add-job.js';
import { askProviderJob, loadPurchase } from './fulfilment-jobs.js';
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
 * Receives a provider's callback about an order (decision 018). Its content is not trusted: a valid
 * signature only triggers a status check, and only the response to that check moves money. So
 * repeated, late, reordered or wrong callbacks are harmless.
 *
 * A callback that contradicts a closed order is verified or opens a case.
 *
 * @throws ValidationError if the body is not a valid callback.
 * @throws UnauthorizedError if the order is unknown or the signature is wrong. The caller cannot
 *   distinguish these cases.
 */
export async function receiveProviderCallback(callback: InboundCallback): Promise<void> {
  const adapter = getAdapter(callback.protocol);
  const parsed = adapter.readCallback(callback.raw);
  if (!parsed) {
    throw new ValidationError([{ field: 'body', message: say('noCallback') }]);
  }
  if (parsed.kind === 'ping') {
    return;
  }
  const order = await OrderModel.findById(parsed.providerRef).lean<Order>();
  if (!order || !(await isSigned(adapter, order, callback))) {
    // Use one error for both cases, so that callers cannot probe for orders.
    throw new UnauthorizedError(say('callbackSignatureWrong'), 'invalid_signature');
  }
  logger.info('provider callback', {
    orderId: order._id,
    purchaseId: order.transactionId,
    sellerId: order.sellerId,
    says: parsed.status,
  });
  if (order.open) {
    await requestStatusCheck(order, parsed.status);
  } else if (parsed.status !== 'pending') {
    await checkContradiction(order, parsed.status);
  }
}

/** True if the order's provider speaks this protocol and the signature is valid. */
async function isSigned(
  adapter: ProviderAdapter,
  order: Order,
  { protocol, raw, headers }: InboundCallback,
): Promise<boolean> {
  if ((order.providerKind === 'simulator' ? 'h2h' : order.providerKind) !== protocol) {
    return false;
  }
  const connection = buildConnection(await getExistingAccount(order.sellerId), order);
  return adapter.isCallbackSigned(connection, raw, headers);
}

async function requestStatusCheck(order: Order, reported: string): Promise<void> {
  const { transactionId: purchaseId, accountId } = order;
  const purchase = await loadPurchase({ purchaseId, accountId });
  if (purchase?.reviewSince) {
    await appendReviewNote(purchase, `The provider's callback reports ${reported}.`);
  } else {
    // Repeated callbacks share one check. If the job is lost, the scheduled check follows.
    await tryToAddJob(
      askProviderJob,
      { purchaseId, accountId, askNow: true },
      { requestId: purchase?.requestId },
    );
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
