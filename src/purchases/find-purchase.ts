import { findConfirmed, findHeld } from '../database/find-confirmed.js';
import { NotFoundError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { purchases, type Purchase } from './purchase.model.js';

/** A look-up of purchases by `findHeld`, or by `findConfirmed` after a read of newer data. */
type Find = typeof findHeld;

/**
 * An account's own purchase by our id or by its ref_id, in a state that a majority holds: the client acts on it. A ref_id
 * that looks like an id of ours is found too: the account's own reference wins.
 * @throws NotFoundError (404/02), also for another account's transaction.
 */
export async function findPurchase(
  accountId: string,
  idOrRef: string,
  find: Find = findHeld,
): Promise<Purchase> {
  const held = await find(purchases, {
    $or: [
      { accountId, refId: idOrRef },
      { accountId, _id: idOrRef },
    ],
  });
  // Another purchase may have this id as its ref_id, and no majority yet.
  const known =
    held.length === 0 || held.some(({ refId }) => refId === idOrRef)
      ? held
      : [...(await findConfirmed(purchases, { accountId, refId: idOrRef })), ...held];
  const found = known.find(({ refId }) => refId === idOrRef) ?? known[0];
  if (!found) {
    throw new NotFoundError(say('noTransaction', { id: idOrRef }));
  }
  return found;
}
