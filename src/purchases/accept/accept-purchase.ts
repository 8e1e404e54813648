import { InsufficientBalanceError } from '../../shared/errors.js';
import { debitPurchase } from './debit-purchase.js';
import { enqueuePurchase } from '../fulfil/enqueue-purchase.js';
import { replay, storedByRef, type AcceptedPurchase, type WantedPurchase } from './replay.js';
import type { Purchase } from '../purchase.model.js';

/**
 * The last step of every purchase and payment: purchase and debit stand together or not at all, and only then is
 * there a job. If the process dies before the job, the sweeper finds the transaction.
 * @param wanted What was asked for: an equal request that came first under the same ref_id is answered instead.
 * @throws InsufficientBalanceError, ConflictError (another request under the same ref_id), DependencyError.
 */
export async function acceptPurchase(purchase: Purchase, wanted: WantedPurchase): Promise<AcceptedPurchase> {
  switch (await debitPurchase(purchase)) {
    case 'debited':
      await enqueuePurchase(purchase);
      return { purchase, created: true };
    case 'insufficient':
      throw new InsufficientBalanceError();
    case 'duplicate':
      return replay(await storedByRef(purchase.accountId, purchase.refId), wanted);
  }
}
