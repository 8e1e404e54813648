import { NotFoundError } from '../shared/errors.js';
import { TransactionModel, type Transaction } from './purchase.model.js';

/**
 * An account's own transaction by our id or by its ref_id. A ref_id that looks like an id of ours is found too:
 * the account's own reference wins.
 * @throws NotFoundError (404/02), also for another account's transaction.
 */
export async function findTransaction(accountId: string, idOrRef: string): Promise<Transaction> {
  const found =
    (await TransactionModel.findOne({ accountId, refId: idOrRef }).lean<Transaction>()) ??
    (await TransactionModel.findOne({ _id: idOrRef, accountId }).lean<Transaction>());
  if (!found) {
    throw new NotFoundError(`There is no transaction ${idOrRef}.`);
  }
  return found;
}
