import type { ChangedBy } from '../../audit/record-audit.js';
import { findMajorityHeld } from '../../database/find-confirmed.js';
import { ConflictError, ValidationError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { CaseModel, type ReconciliationCase } from '../case.model.js';
import { reverseSale } from '../fulfil/reverse-sale.js';
import type { Purchase } from '../purchase.model.js';
import { StalePurchaseError } from '../states.js';
import { requirePurchase } from '../find-purchase.js';

/**
 * Reverses a sale for the operator. One posting returns the price to the buyer, takes back the
 * seller's share and closes the cases about the sale.
 * @throws NotFoundError if the purchase does not exist.
 * @throws ConflictError if the purchase is not, or is no longer, SUCCESS.
 * @throws ValidationError if the reason is missing.
 */
export async function reverseByOperator(purchaseId: string, by: ChangedBy): Promise<Purchase> {
  const purchase = await requirePurchase(purchaseId);
  if (purchase.status !== 'SUCCESS') {
    throw new ConflictError(
      asWritten(`Transaction ${purchaseId} is ${purchase.status}; only a SUCCESS can be reversed.`),
    );
  }
  if (!by.reason) {
    throw new ValidationError([{ field: 'reason', message: asWritten('A reversal needs a reason.') }]);
  }
  const cases = await CaseModel.find(
    { transactionId: purchaseId, kind: 'reversal', resolvedAt: null },
    { _id: 1 },
  ).lean<Pick<ReconciliationCase, '_id'>[]>();
  try {
    await reverseSale(purchase, {
      message: 'Transaction reversed, the price was returned',
      by,
      caseIds: cases.map(({ _id }) => _id),
    });
  } catch (error) {
    // A worker changed the purchase first, which is not an internal error.
    throw error instanceof StalePurchaseError
      ? new ConflictError(asWritten(`Transaction ${purchaseId} has just changed. Look at it again.`), {
          cause: error,
        })
      : error;
  }
  return requirePurchase(purchaseId, { accountId: purchase.accountId, find: findMajorityHeld });
}
