import { accountById } from '../../accounts/find-account.js';
import type { ProviderAdapter } from '../../providers/adapter.js';
import { adapterFor, connectionOf } from '../../providers/get-adapter.js';
import { ForbiddenError, NotFoundError, UnauthorizedError, ValidationError } from '../../shared/errors.js';
import { logger } from '../../shared/logger.js';
import { OrderModel, type Order } from '../order.model.js';
import { tryToAddJob } from '../../jobs/add-job.js';
import { askProviderJob } from './ask-provider.job.js';
import { openCase } from './record-contradiction.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';
import { enqueueVerification } from './verify-sale.js';

export interface InboundCallback {
  protocol: 'h2h' | 'digiflazz';
  /** The bytes as they came: the signature covers them. */
  raw: Buffer;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * A provider tells what became of an order (decision 021). Nothing in it is believed: a right signature only makes us
 * ask for the status at once, and the answer to that moves the money. So a callback that is repeated, late, out of
 * order or wrong changes nothing; one that contradicts a closed order is looked into.
 * @throws ValidationError, NotFoundError, ForbiddenError, UnauthorizedError: it was not accepted.
 */
export async function receiveProviderCallback(callback: InboundCallback): Promise<void> {
  const adapter = adapterFor(callback.protocol);
  const told = adapter.readCallback(callback.raw);
  if (!told) {
    throw new ValidationError([{ field: 'body', message: 'This is not a callback of this protocol.' }]);
  }
  if (told.kind === 'ping') {
    return;
  }
  const order = await OrderModel.findById(told.providerRef).lean<Order>();
  if (!order) {
    throw new NotFoundError('There is no order with this ref_id.');
  }
  await requireSignature(adapter, order, callback);
  logger.info('provider callback', { orderId: order._id, sellerId: order.sellerId, says: told.says });
  if (order.open) {
    await askNow(order, told.says);
  } else if (told.says !== 'pending') {
    await lookIntoContradiction(order, told.says);
  }
}

/** The order's own seller must speak this protocol, and its provider must have signed. */
async function requireSignature(
  adapter: ProviderAdapter,
  order: Order,
  { protocol, raw, headers }: InboundCallback,
): Promise<void> {
  if ((order.providerKind === 'digiflazz') !== (protocol === 'digiflazz')) {
    throw new ForbiddenError('This order went to a provider of another protocol.');
  }
  const connection = connectionOf(await accountById(order.sellerId));
  if (!adapter.isCallbackSigned(connection, raw, headers)) {
    throw new UnauthorizedError('The signature is not right.');
  }
}

async function askNow(order: Order, says: string): Promise<void> {
  const { transactionId: purchaseId } = order;
  const purchase = await PurchaseModel.findById(purchaseId).lean<Purchase>();
  if (purchase?.reviewSince) {
    const detail = `While it waits for a decision, the provider's callback says ${says}.`;
    await openCase({ transactionId: purchaseId, kind: 'review', detail });
  } else {
    // However often it calls, one check follows. Without the job the schedule's own check comes.
    await tryToAddJob(askProviderJob, { purchaseId, askNow: true });
  }
}

async function lookIntoContradiction(order: Order, says: 'success' | 'failed'): Promise<void> {
  const { transactionId: purchaseId } = order;
  if (order.status === 'OK' && says === 'failed') {
    // Perhaps taken back after success: ask, and see verify-sale.ts.
    await enqueueVerification(purchaseId, 0);
  } else if (order.status === 'REJECTED' && says === 'success') {
    await openCase({
      transactionId: purchaseId,
      kind: 'contradicting-answer',
      detail: `Attempt ${order.n} was refused or never executed, a signed callback says success.`,
    });
  }
}
