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
  protocol: 'h2h' | 'digiflazz';
  /** The bytes as they came: the signature covers them. */
  raw: Buffer;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * A provider tells what became of an order (decision 018). Nothing in it is believed: a right signature only makes us
 * ask for the status at once, and the answer to that moves the money. So a callback that is repeated, late, out of
 * order or wrong changes nothing; one that contradicts a closed order is looked into.
 * @throws ValidationError for what is none. @throws UnauthorizedError for one whose order is unknown or whose signature is
 * not right, which look the same.
 */
export async function receiveProviderCallback(callback: InboundCallback): Promise<void> {
  const adapter = getAdapter(callback.protocol);
  const told = adapter.readCallback(callback.raw);
  if (!told) {
    throw new ValidationError([{ field: 'body', message: say('noCallback') }]);
  }
  if (told.kind === 'ping') {
    return;
  }
  const order = await OrderModel.findById(told.providerRef).lean<Order>();
  if (!order || !(await isSigned(adapter, order, callback))) {
    // One answer: whether an order exists is not for strangers.
    throw new UnauthorizedError(say('callbackSignatureWrong'), 'invalid_signature');
  }
  logger.info('provider callback', {
    orderId: order._id,
    purchaseId: order.transactionId,
    sellerId: order.sellerId,
    says: told.says,
  });
  if (order.open) {
    await requestStatusCheck(order, told.says);
  } else if (told.says !== 'pending') {
    await checkContradiction(order, told.says);
  }
}

/** The order's own seller must speak this protocol, and its provider must have signed. */
async function isSigned(
  adapter: ProviderAdapter,
  order: Order,
  { protocol, raw, headers }: InboundCallback,
): Promise<boolean> {
  if ((order.providerKind === 'digiflazz') !== (protocol === 'digiflazz')) {
    return false;
  }
  const connection = buildConnection(await getExistingAccount(order.sellerId), order);
  return adapter.isCallbackSigned(connection, raw, headers);
}

async function requestStatusCheck(order: Order, says: string): Promise<void> {
  const { transactionId: purchaseId, accountId } = order;
  const purchase = await loadPurchase({ purchaseId, accountId });
  if (purchase?.reviewSince) {
    await appendReviewNote(purchase, `The provider's callback says ${says}.`);
  } else {
    // However often it calls, one check follows. Without the job the schedule's own check comes.
    await tryToAddJob(
      askProviderJob,
      { purchaseId, accountId, askNow: true },
      { requestId: purchase?.requestId },
    );
  }
}

async function checkContradiction(order: Order, says: 'success' | 'failed'): Promise<void> {
  const { transactionId: purchaseId, accountId } = order;
  if (order.status === 'OK' && says === 'failed') {
    // Perhaps taken back after success: ask, and see reverse-sale.ts.
    await enqueueVerification({ _id: purchaseId, accountId }, 0);
  } else if (order.status === 'REJECTED' && says === 'success') {
    await openCase({
      transactionId: purchaseId,
      kind: 'contradicting-answer',
      detail: `Attempt ${order.n} was refused or never executed, a signed callback says success.`,
    });
  }
}
