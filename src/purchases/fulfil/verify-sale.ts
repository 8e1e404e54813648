import { bySystem } from '../../audit/record-audit.js';
import { accountById } from '../../accounts/find-account.js';
import { adapterFor, connectionOf } from '../../providers/get-adapter.js';
import { now, nowMs } from '../../shared/clock.js';
import { DependencyError } from '../../shared/errors.js';
import { queue } from '../../jobs/queues.js';
import { requestOf } from './orders.js';
import { OrderModel, type Order } from '../order.model.js';
import { openCase } from './record-contradiction.js';
import { reverseSale } from './reverse-sale.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';

const retryMs = 60_000;
const checksMax = 20;

/**
 * Asks the provider once more about a sale that it says it took back. Only a status that is a reversal by itself
 * moves money; a plain "failed" after success goes to the operator. Safe to run twice: the question is claimed by
 * the number of checks, and the reversal by the state that was read.
 */
export async function verifySale(purchaseId: string): Promise<void> {
  const purchase = await PurchaseModel.findById(purchaseId).lean<Purchase>();
  const order = await OrderModel.findOne({ transactionId: purchaseId, status: 'OK' }).lean<Order>();
  if (purchase?.status !== 'SUCCESS' || !order) {
    return;
  }
  const adapter = adapterFor(order.providerKind);
  const lastMs = (order.lastCheckAt ?? order.sentAt)?.getTime() ?? 0;
  const waitMs = lastMs + adapter.traits.inquiryMinIntervalMs - nowMs();
  if (waitMs > 0) {
    await enqueueVerification(order, waitMs);
    return;
  }
  if (!(await claim(order))) {
    return;
  }
  const connection = connectionOf(await accountById(order.sellerId));
  const outcome = await adapter.inquire(connection, requestOf(purchase, order));
  switch (outcome.outcome) {
    case 'success':
      return;
    case 'reversed':
      await reverseSale(purchase, { message: outcome.message, by: bySystem });
      return;
    case 'refused':
    case 'not-found':
    case 'review':
      await openCase({
        transactionId: purchaseId,
        kind: 'reversal',
        detail: `Sold, but the provider now says ${outcome.outcome} (${outcome.code}): ${outcome.message}`,
      });
      return;
    case 'pending':
    case 'unknown':
    case 'not-sent':
      await (order.checks < checksMax
        ? enqueueVerification({ ...order, checks: order.checks + 1 }, retryMs)
        : openCase({
            transactionId: purchaseId,
            kind: 'reversal',
            detail: 'Sold; the provider told of a failure and does not confirm it.',
          }));
  }
}

async function claim(order: Order): Promise<boolean> {
  const result = await OrderModel.updateOne(
    { _id: order._id, status: 'OK', checks: order.checks },
    { $set: { lastCheckAt: now() }, $inc: { checks: 1 } },
  );
  return result.matchedCount === 1;
}

/**
 * Adds the job that verifies a sale; its id is made of the checks so far, so that a repeated callback adds none.
 * @throws DependencyError while Redis is away: the provider will call again.
 */
export async function enqueueVerification(
  { _id, transactionId: purchaseId, checks }: Pick<Order, '_id' | 'transactionId' | 'checks'>,
  delayMs: number,
): Promise<void> {
  const jobId = `verify-${_id}-${checks}-${delayMs > 0 ? 'later' : 'now'}`;
  try {
    await queue('polling').add('verify', { v: 1, transactionId: purchaseId }, { jobId, delay: delayMs });
  } catch (error) {
    throw new DependencyError(error);
  }
}
