import { now } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import { logger } from '../../shared/logger.js';
import { isDuplicateKey } from '../../database/mongo.js';
import { OrderModel, type Order } from '../order.model.js';
import { CaseModel, type ReconciliationCase } from '../case.model.js';
import { isFinal } from '../states.js';
import { PurchaseModel, type Purchase, type PurchaseStatus } from '../purchase.model.js';

/**
 * A late answer met a purchase that had already moved. If it says what the purchase says, nothing is
 * wrong; if it contradicts a final state, nothing is changed and the operator gets a case.
 */
export async function recordContradiction(
  purchaseId: string,
  late: { expected: PurchaseStatus; detail: string; attemptId?: string },
): Promise<void> {
  const purchase = await PurchaseModel.findById(purchaseId).lean<Purchase>();
  if (!purchase || !(await contradicts(purchase, late))) {
    return;
  }
  await openCase({
    transactionId: purchaseId,
    kind: 'contradicting-answer',
    detail: `The transaction is ${purchase.status}, a late answer says ${late.expected}: ${late.detail}`,
  });
}

async function contradicts(
  purchase: Purchase,
  late: { expected: PurchaseStatus; attemptId?: string },
): Promise<boolean> {
  if (isFinal(purchase.status)) {
    return purchase.status !== late.expected;
  }
  // Bought after all by a seller whose refusal has already sent the order on to another one?
  const order = late.attemptId && (await OrderModel.findById(late.attemptId).lean<Order>());
  return order ? order.status === 'REJECTED' : false;
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
