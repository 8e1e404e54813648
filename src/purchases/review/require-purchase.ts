import { NotFoundError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';

/** @param accountId The buyer's, where it is known. @throws NotFoundError if there is no purchase with this id. */
export async function requirePurchase(id: string, accountId?: string): Promise<Purchase> {
  const purchase = await PurchaseModel.findOne({
    _id: id,
    ...(accountId !== undefined && { accountId }),
  }).lean<Purchase>();
  if (!purchase) {
    throw new NotFoundError(say('noTransaction', { id }));
  }
  return purchase;
}
