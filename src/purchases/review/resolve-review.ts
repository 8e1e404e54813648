import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { now } from '../../shared/clock.js';
import { ConflictError, NotFoundError, ValidationError } from '../../shared/errors.js';
import { inTransaction } from '../../database/mongo.js';
import { openAttemptOf } from '../fulfil/orders.js';
import { AttemptModel, type Attempt } from '../order.model.js';
import { CaseModel } from '../case.model.js';
import { enqueueStatusCheck } from '../fulfil/enqueue-purchase.js';
import { reverseSale } from '../fulfil/reverse-sale.js';
import { settleFailure } from '../fulfil/conclude-failure.js';
import { settleSuccess } from '../fulfil/conclude-success.js';
import { StaleTransactionError } from '../states.js';
import { TransactionModel, type Transaction } from '../purchase.model.js';

export interface Review {
  transaction: Transaction;
  /** Newest last. */
  attempts: Attempt[];
}

/** Purchases that wait for the operator's decision, the oldest first. */
export async function listReviews({ limit }: { limit: number }): Promise<Review[]> {
  const transactions = await TransactionModel.find({ reviewSince: { $type: 'date' } })
    .sort({ reviewSince: 1 })
    .limit(limit)
    .lean<Transaction[]>();
  const attempts = await AttemptModel.find({ transactionId: { $in: transactions.map(({ _id }) => _id) } })
    .sort({ transactionId: 1, n: 1 })
    .lean<Attempt[]>();
  return transactions.map((transaction) => ({
    transaction,
    attempts: attempts.filter(({ transactionId }) => transactionId === transaction._id),
  }));
}

export type Decision =
  /** The provider has executed it. */
  | { as: 'success'; serialNumber: string | null }
  /** The provider certainly has not and will not: the debit goes back. */
  | { as: 'failed' }
  /** Let the workers ask the provider again, as long as its maximum age allows. */
  | { as: 'ask' };

/**
 * The operator decides a purchase under review, by what the provider's own record says.
 * @throws NotFoundError, ConflictError if it does not wait for a decision (any more).
 */
export async function resolveReview(
  transactionId: string,
  decision: Decision,
  by: ChangedBy,
): Promise<Transaction> {
  const transaction = await requireTransaction(transactionId);
  const attempt = await openAttemptOf(transactionId);
  if (transaction.reviewSince === null || !attempt) {
    throw new ConflictError(`Transaction ${transactionId} does not wait for a decision.`);
  }
  try {
    await decide(transaction, attempt, decision);
  } catch (error) {
    throw error instanceof StaleTransactionError
      ? new ConflictError(`Transaction ${transactionId} has just changed. Look at it again.`, {
          cause: error,
        })
      : error;
  }
  await closeCases(transactionId, decision, by);
  return requireTransaction(transactionId);
}

/**
 * The operator takes back a sale: the buyer gets the price, the seller loses its share.
 * @throws NotFoundError, ConflictError if it is no sale (any more), ValidationError without a reason.
 */
export async function reverseByOperator(transactionId: string, by: ChangedBy): Promise<Transaction> {
  const transaction = await requireTransaction(transactionId);
  if (transaction.status !== 'SUCCESS') {
    throw new ConflictError(
      `Transaction ${transactionId} is ${transaction.status}; only a SUCCESS is taken back.`,
    );
  }
  if (!by.reason) {
    throw new ValidationError([{ field: 'reason', message: 'A reversal needs a reason.' }]);
  }
  try {
    await reverseSale(transaction, { message: 'Transaction reversed, the price was returned', by });
  } catch (error) {
    throw error instanceof StaleTransactionError
      ? new ConflictError(`Transaction ${transactionId} has just changed. Look at it again.`, {
          cause: error,
        })
      : error;
  }
  await CaseModel.updateMany(
    { transactionId, kind: 'reversal', resolvedAt: null },
    { $set: { resolvedAt: now() } },
  );
  return requireTransaction(transactionId);
}

async function requireTransaction(id: string): Promise<Transaction> {
  const transaction = await TransactionModel.findById(id).lean<Transaction>();
  if (!transaction) {
    throw new NotFoundError(`There is no transaction ${id}.`);
  }
  return transaction;
}

async function decide(transaction: Transaction, attempt: Attempt, decision: Decision): Promise<void> {
  switch (decision.as) {
    case 'success':
      await settleSuccess(transaction, attempt, {
        code: 'operator',
        message: 'Transaction successful',
        serialNumber: decision.serialNumber,
      });
      return;
    case 'failed':
      await settleFailure(transaction, attempt, {
        code: '01',
        message: 'The provider did not execute it, the debit was returned',
      });
      return;
    case 'ask':
      await TransactionModel.updateOne(
        { _id: transaction._id, version: transaction.version },
        { $set: { reviewSince: null, nextActionAt: now(), updatedAt: now() } },
      );
      await enqueueStatusCheck(transaction, { check: now().getTime(), delayMs: 0 });
  }
}

async function closeCases(transactionId: string, decision: Decision, by: ChangedBy): Promise<void> {
  await inTransaction(async (session) => {
    await CaseModel.updateMany(
      { transactionId, kind: 'review', resolvedAt: null },
      { $set: { resolvedAt: now() } },
      { session },
    );
    await recordAudit(session, {
      ...by,
      action: 'review.resolve',
      subject: { kind: 'transaction', id: transactionId },
      before: { status: 'PROCESSING', review: true },
      after: decision,
    });
  });
}
