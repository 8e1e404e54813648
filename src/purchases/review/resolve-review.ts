import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { now } from '../../shared/clock.js';
import { ConflictError, NotFoundError, ValidationError } from '../../shared/errors.js';
import { inTransaction } from '../../database/mongo.js';
import { openOrderOf } from '../fulfil/orders.js';
import { OrderModel, type Order } from '../order.model.js';
import { CaseModel } from '../case.model.js';
import { tryToAddJob } from '../../jobs/add-job.js';
import { askProviderJob } from '../fulfil/ask-provider.job.js';
import { reverseSale } from '../fulfil/reverse-sale.js';
import { concludeFailure } from '../fulfil/conclude-failure.js';
import { concludeSuccess } from '../fulfil/conclude-success.js';
import { StalePurchaseError } from '../states.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';

export interface Review {
  purchase: Purchase;
  /** Newest last. */
  orders: Order[];
}

/** Purchases that wait for the operator's decision, the oldest first. */
export async function listReviews({ limit }: { limit: number }): Promise<Review[]> {
  const purchases = await PurchaseModel.find({ reviewSince: { $type: 'date' } })
    .sort({ reviewSince: 1 })
    .limit(limit)
    .lean<Purchase[]>();
  const orders = await OrderModel.find({ transactionId: { $in: purchases.map(({ _id }) => _id) } })
    .sort({ transactionId: 1, n: 1 })
    .lean<Order[]>();
  return purchases.map((purchase) => ({
    purchase,
    orders: orders.filter(({ transactionId: purchaseId }) => purchaseId === purchase._id),
  }));
}

export type Decision =
  /** The provider has executed it. */
  | { outcome: 'success'; serialNumber: string | null }
  /** The provider certainly has not and will not: the debit goes back. */
  | { outcome: 'failed' }
  /** Let the workers ask the provider again, as long as its maximum age allows. */
  | { outcome: 'ask' };

/**
 * The operator decides a purchase under review, by what the provider's own record says.
 * @throws NotFoundError, ConflictError if it does not wait for a decision (any more).
 */
export async function resolveReview(
  purchaseId: string,
  decision: Decision,
  by: ChangedBy,
): Promise<Purchase> {
  const purchase = await requirePurchase(purchaseId);
  const order = await openOrderOf(purchaseId);
  if (purchase.reviewSince === null || !order) {
    throw new ConflictError(`Transaction ${purchaseId} does not wait for a decision.`);
  }
  await refuseIfStale(purchaseId, decide(purchase, order, decision));
  await closeCases(purchaseId, decision, by);
  return requirePurchase(purchaseId);
}

/**
 * The operator takes back a sale: the buyer gets the price, the seller loses its share.
 * @throws NotFoundError, ConflictError if it is no sale (any more), ValidationError without a reason.
 */
export async function reverseByOperator(purchaseId: string, by: ChangedBy): Promise<Purchase> {
  const purchase = await requirePurchase(purchaseId);
  if (purchase.status !== 'SUCCESS') {
    throw new ConflictError(`Transaction ${purchaseId} is ${purchase.status}; only a SUCCESS is taken back.`);
  }
  if (!by.reason) {
    throw new ValidationError([{ field: 'reason', message: 'A reversal needs a reason.' }]);
  }
  const message = 'Transaction reversed, the price was returned';
  await refuseIfStale(purchaseId, reverseSale(purchase, { message, by }));
  await CaseModel.updateMany(
    { transactionId: purchaseId, kind: 'reversal', resolvedAt: null },
    { $set: { resolvedAt: now() } },
  );
  return requirePurchase(purchaseId);
}

/** A worker that was quicker is no error of ours: the operator looks again. */
async function refuseIfStale(purchaseId: string, change: Promise<unknown>): Promise<void> {
  try {
    await change;
  } catch (error) {
    throw error instanceof StalePurchaseError
      ? new ConflictError(`Transaction ${purchaseId} has just changed. Look at it again.`, { cause: error })
      : error;
  }
}

async function requirePurchase(id: string): Promise<Purchase> {
  const purchase = await PurchaseModel.findById(id).lean<Purchase>();
  if (!purchase) {
    throw new NotFoundError(`There is no transaction ${id}.`);
  }
  return purchase;
}

async function decide(purchase: Purchase, order: Order, decision: Decision): Promise<void> {
  switch (decision.outcome) {
    case 'success':
      await concludeSuccess(purchase, order, {
        code: 'operator',
        message: 'Transaction successful',
        serialNumber: decision.serialNumber,
      });
      return;
    case 'failed':
      await concludeFailure(purchase, order, {
        code: '01',
        message: 'The provider did not execute it, the debit was returned',
      });
      return;
    case 'ask':
      await PurchaseModel.updateOne(
        { _id: purchase._id, version: purchase.version },
        { $set: { reviewSince: null, nextActionAt: now(), updatedAt: now() } },
      );
      await tryToAddJob(askProviderJob, { purchaseId: purchase._id, askNow: false });
  }
}

async function closeCases(
  purchaseId: string,
  { outcome, ...details }: Decision,
  by: ChangedBy,
): Promise<void> {
  await inTransaction(async (session) => {
    await CaseModel.updateMany(
      { transactionId: purchaseId, kind: 'review', resolvedAt: null },
      { $set: { resolvedAt: now() } },
      { session },
    );
    await recordAudit(session, {
      ...by,
      action: 'review.resolve',
      subject: { kind: 'transaction', id: purchaseId },
      before: { status: 'PROCESSING', review: true },
      // The word of `topup review resolve --as`, by which earlier entries are found.
      after: { as: outcome, ...details },
    });
  });
}
