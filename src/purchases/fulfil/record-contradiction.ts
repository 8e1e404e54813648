import { now } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import { logger } from '../../shared/logger.js';
import { isDuplicateKey } from '../../database/mongo.js';
import { getOrderKey, OrderModel, type Order } from '../order.model.js';
import { CaseModel, type ReconciliationCase } from '../case.model.js';
import { isFinal } from '../states.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';

/** What a provider says about an order after the purchase has moved on. */
export type LateAnswer = 'success' | 'failed' | 'under way';

/**
 * A late answer met a purchase that had already moved. It is about an order, so it is the order that it is compared
 * with: that another order of the same purchase has succeeded makes a late success a second execution. Nothing is
 * changed; what contradicts becomes a case for the operator.
 */
export async function recordContradiction(
  { _id: purchaseId, accountId }: Pick<Purchase, '_id' | 'accountId'>,
  late: { order: Pick<Order, '_id' | 'accountId'>; says: LateAnswer },
): Promise<void> {
  const [purchase, order] = await Promise.all([
    PurchaseModel.findOne({ _id: purchaseId, accountId }).lean<Purchase>(),
    OrderModel.findOne(getOrderKey(late.order)).lean<Order>(),
  ]);
  if (!purchase || !order || !isContradiction(purchase, order, late.says)) {
    return;
  }
  const detail = `The transaction is ${purchase.status} and attempt ${order.n} ${order.status}; a late answer says of this attempt: ${late.says}`;
  await openCase({ transactionId: purchaseId, kind: 'contradicting-answer', detail }, purchase);
}

function isContradiction(purchase: Purchase, order: Order, says: LateAnswer): boolean {
  switch (says) {
    case 'success':
    case 'under way':
      // Refused or believed never to have been executed, or the purchase has ended without it.
      return order.status === 'REJECTED' || (order.status !== 'OK' && isFinal(purchase.status));
    case 'failed':
      return order.status === 'OK';
  }
}

/** Opens a case for the operator; the same case again changes nothing. */
export async function openCase(
  input: Pick<ReconciliationCase, 'kind' | 'detail'> & { transactionId: string },
  { requestId }: Pick<Purchase, 'requestId'> = {},
): Promise<void> {
  try {
    await CaseModel.create({ ...input, _id: newId(), createdAt: now(), resolvedAt: null });
    logger.error('a case needs the operator', { ...input, requestId });
  } catch (error) {
    if (!isDuplicateKey(error)) {
      throw error;
    }
  }
}
