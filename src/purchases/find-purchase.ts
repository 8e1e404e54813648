import { findConfirmed, findMajorityHeld } from '../database/find-confirmed.js';
import { NotFoundError, DependencyError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { purchases, type Purchase } from './purchase.model.js';
import { getQuickCollection } from '../database/mongo.js';
import { batchCalls } from '../shared/concurrency.js';

/**
 * Signature of `findMajorityHeld` and `findConfirmed`. Use `findConfirmed` after a read that may have seen
 * data that is not majority-committed.
 */
type PurchaseFinder = typeof findMajorityHeld;

/**
 * Finds a purchase of the account by transaction id or ref_id, as a majority holds it. If both
 * match, the ref_id wins.
 * @throws NotFoundError (404/02), also for another account's transaction.
 */
export async function findPurchase(
  accountId: string,
  idOrRef: string,
  find: PurchaseFinder = findMajorityHeld,
): Promise<Purchase> {
  const matches = await find(purchases, {
    $or: [
      { accountId, refId: idOrRef },
      { accountId, _id: idOrRef },
    ],
  });
  // A purchase with `idOrRef` as its ref_id may not be majority-committed yet.
  const known =
    matches.length === 0 || matches.some(({ refId }) => refId === idOrRef)
      ? matches
      : [...(await findConfirmed(purchases, { accountId, refId: idOrRef })), ...matches];
  const found = known.find(({ refId }) => refId === idOrRef) ?? known[0];
  if (!found) {
    throw new NotFoundError(say('noTransaction', { id: idOrRef }));
  }
  return found;
}

type Ref = Pick<Purchase, 'accountId' | 'refId'>;

/**
 * Finds the purchase of an account under a ref_id, as a majority holds it, or null. It runs one
 * command. It can miss a purchase that was just accepted, so do not base a refusal on it.
 */
export const findByRef = buildRefLoader((filter) =>
  getQuickCollection(purchases).find(filter, { readConcern: 'majority' }).toArray(),
);

const findNewestByRef = buildRefLoader((filter) =>
  getQuickCollection(purchases).find(filter, { readConcern: 'local' }).toArray(),
);

/**
 * Finds the purchase under a ref_id after a refusal. It sees every purchase that can have caused
 * the refusal. Only calls that find a purchase wait for the majority.
 * @throws DependencyError if the purchase was rolled back after it was read.
 */
export async function findByRefAfterRefusal({ accountId, refId }: Ref): Promise<Purchase | null> {
  if ((await findNewestByRef({ accountId, refId })) === null) {
    return null;
  }
  const [confirmed] = await findConfirmed(purchases, { accountId, refId });
  if (!confirmed) {
    throw new DependencyError(new Error('A purchase was read that is not majority-committed'));
  }
  return confirmed;
}

/** Concurrent calls share a query. */
function buildRefLoader(find: (filter: { $or: Ref[] }) => Promise<Purchase[]>) {
  return batchCalls<Ref, Purchase | null>({
    itemsMax: 100,
    async run(wanted) {
      const $or = wanted.map(({ accountId, refId }) => ({ accountId, refId }));
      const found = new Map((await find({ $or })).map((each) => [`${each.accountId} ${each.refId}`, each]));
      return wanted.map(({ accountId, refId }) => found.get(`${accountId} ${refId}`) ?? null);
    },
  });
}

/**
 * Finds purchases of an account by their ref_ids, as a majority holds them. The read is confirmed,
 * so a purchase that a client may have seen is never reported missing. It does not use `findByRef`,
 * because it would delay the purchase requests that share that query.
 */
export async function findByRefs(accountId: string, refIds: string[]): Promise<Map<string, Purchase>> {
  const found = await findConfirmed(purchases, { accountId, refId: { $in: refIds } });
  return new Map(found.map((each) => [each.refId, each]));
}

/**
 * Returns a purchase as a majority holds it.
 * @param options.accountId The id of the buyer, if known.
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
