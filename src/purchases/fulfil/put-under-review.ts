import { now } from '../../shared/clock.js';
import { openCase } from './record-contradiction.js';
import { finalStatuses } from '../states.js';
import { TransactionModel, type Transaction } from '../purchase.model.js';

/**
 * Hands a purchase to the operator: it stays PROCESSING, neither refunded nor bought again, and nobody asks the
 * provider any more until the operator decides (`topup review`).
 */
export async function putUnderReview(transaction: Transaction, why: string): Promise<void> {
  await TransactionModel.updateOne(
    { _id: transaction._id, status: { $nin: [...finalStatuses] }, reviewSince: null },
    { $set: { reviewSince: now(), nextActionAt: null, updatedAt: now() } },
  );
  await openCase({ transactionId: transaction._id, kind: 'review', detail: why });
}
