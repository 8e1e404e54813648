import { now } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import { logger } from '../../shared/logger.js';
import { isDuplicateKey } from '../../database/mongo.js';
import { AttemptModel, type Attempt } from '../order.model.js';
import { CaseModel, type ReconciliationCase } from '../case.model.js';
import { isFinal } from '../states.js';
import { TransactionModel, type Transaction, type TransactionStatus } from '../purchase.model.js';

/**
 * A late answer met a transaction that had already moved. If it says what the transaction says, nothing is
 * wrong; if it contradicts a final state, nothing is changed and the operator gets a case.
 */
export async function recordContradiction(
  transactionId: string,
  late: { expected: TransactionStatus; detail: string; attemptId?: string },
): Promise<void> {
  const transaction = await TransactionModel.findById(transactionId).lean<Transaction>();
  if (!transaction || !(await contradicts(transaction, late))) {
    return;
  }
  await openCase({
    transactionId,
    kind: 'contradicting-answer',
    detail: `The transaction is ${transaction.status}, a late answer says ${late.expected}: ${late.detail}`,
  });
}

async function contradicts(
  transaction: Transaction,
  late: { expected: TransactionStatus; attemptId?: string },
): Promise<boolean> {
  if (isFinal(transaction.status)) {
    return transaction.status !== late.expected;
  }
  // Bought after all by a seller whose refusal has already sent the order on to another one?
  const attempt = late.attemptId && (await AttemptModel.findById(late.attemptId).lean<Attempt>());
  return attempt ? attempt.status === 'REJECTED' : false;
}

/** Opens a case for the operator; the same case again changes nothing. */
export async function openCase(
  input: Pick<ReconciliationCase, 'transactionId' | 'kind' | 'detail'>,
): Promise<void> {
  try {
    await CaseModel.create({ ...input, _id: newId(), createdAt: now(), resolvedAt: null });
    logger.error('a case needs the operator', input);
  } catch (error) {
    if (!isDuplicateKey(error)) {
      throw error;
    }
  }
}
