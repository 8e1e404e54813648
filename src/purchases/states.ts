import { now } from '../shared/clock.js';
import type { Session } from '../database/mongo.js';
import { TransactionModel, type Transaction, type TransactionStatus } from './purchase.model.js';

/** decisions.md 4. Whatever is not listed cannot happen. */
const transitions: Record<TransactionStatus, readonly TransactionStatus[]> = {
  PENDING: ['PROCESSING', 'FAILED'],
  PROCESSING: ['SUCCESS', 'FAILED'],
  SUCCESS: ['REFUNDED'],
  FAILED: [],
  REFUNDED: [],
};

export const finalStatuses: readonly TransactionStatus[] = ['SUCCESS', 'FAILED', 'REFUNDED'];

export function isFinal(status: TransactionStatus): boolean {
  return finalStatuses.includes(status);
}

/** Somebody else changed the transaction first. Read it again: the work may be done. */
export class StaleTransactionError extends Error {}

type Changes = Partial<
  Pick<
    Transaction,
    | 'serialNumber'
    | 'message'
    | 'failureCode'
    | 'sellerId'
    | 'commissionAmount'
    | 'nextActionAt'
    | 'reviewSince'
  >
>;

/**
 * The only way a status changes: by the table above, and only from the state that the caller has read.
 * @returns the transaction as it is afterwards.
 * @throws StaleTransactionError if it has changed since it was read: nothing was written.
 */
export async function moveTo(
  session: Session,
  transaction: Transaction,
  to: TransactionStatus,
  changes: Changes,
): Promise<Transaction> {
  if (!transitions[transaction.status].includes(to)) {
    throw new Error(`A transaction never goes from ${transaction.status} to ${to} (${transaction._id})`);
  }
  const at = now();
  const set = {
    ...changes,
    status: to,
    updatedAt: at,
    ...(isFinal(to) && { nextActionAt: null, reviewSince: null, pendingNotified: true, finalAt: at }),
  };
  const result = await TransactionModel.updateOne(
    { _id: transaction._id, status: transaction.status, version: transaction.version },
    { $set: set, $inc: { version: 1 } },
    { session },
  );
  if (result.matchedCount === 0) {
    throw new StaleTransactionError(`Transaction ${transaction._id} changed meanwhile`);
  }
  return { ...transaction, ...set, version: transaction.version + 1 };
}
