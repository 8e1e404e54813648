import { NotFoundError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { PurchaseModel, type Purchase } from './purchase.model.js';

/**
 * An account's own purchase by our id or by its ref_id. A ref_id that looks like an id of ours is found too:
 * the account's own reference wins.
 * @throws NotFoundError (404/02), also for another account's transaction.
 */
export async function findPurchase(accountId: string, idOrRef: string): Promise<Purchase> {
  const found =
    (await PurchaseModel.findOne({ accountId, refId: idOrRef }).lean<Purchase>()) ??
    (await PurchaseModel.findOne({ _id: idOrRef, accountId }).lean<Purchase>());
  if (!found) {
    throw new NotFoundError(say('noTransaction', { id: idOrRef }));
  }
  return found;
}
