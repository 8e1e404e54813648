import { findConfirmed } from '../../database/find-confirmed.js';
import { NotFoundError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { purchases, type Purchase } from '../purchase.model.js';

/**
 * As a majority holds it: "refunded already" is an answer about money.
 * @param options.accountId The buyer's, where it is known.
 * @throws NotFoundError if there is no purchase with this id.
 */
export async function requirePurchase(
  id: string,
  { accountId, find = findConfirmed }: { accountId?: string; find?: typeof findConfirmed } = {},
): Promise<Purchase> {
  const owner = accountId === undefined ? {} : { accountId };
  const [purchase] = await find(purchases, { _id: id, ...owner });
  if (!purchase) {
    throw new NotFoundError(say('noTransaction', { id }));
  }
  return purchase;
}
