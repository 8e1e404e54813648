import { InsufficientBalanceError } from '../../shared/errors.js';
import { debitPurchase } from './debit-purchase.js';
import { enqueuePurchase } from '../fulfil/enqueue-purchase.js';
import { replay, storedByRef, type AcceptedPurchase, type WantedPurchase } from './replay.js';
import type { Transaction } from '../purchase.model.js';

/**
 * The last step of every purchase and payment: transaction and debit stand together or not at all, and only then is
 * there a job. If the process dies before the job, the sweeper finds the transaction.
 * @param wanted What was asked for: an equal request that came first under the same ref_id is answered instead.
 * @throws InsufficientBalanceError, ConflictError (another request under the same ref_id), DependencyError.
 */
export async function acceptTransaction(
  transaction: Transaction,
  wanted: WantedPurchase,
): Promise<AcceptedPurchase> {
  switch (await debitPurchase(transaction)) {
    case 'debited':
      await enqueuePurchase(transaction);
      return { transaction, created: true };
    case 'insufficient':
      throw new InsufficientBalanceError();
    case 'duplicate':
      return replay(await storedByRef(transaction.accountId, transaction.refId), wanted);
  }
}
