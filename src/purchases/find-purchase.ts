import { findConfirmed, findHeld } from '../database/find-confirmed.js';
import { NotFoundError, DependencyError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { purchases, type Purchase } from './purchase.model.js';
import { getQuickCollection } from '../database/mongo.js';
import { batchCalls } from '../shared/concurrency.js';

/** A look-up of purchases by `findHeld`, or by `findConfirmed` after a read of newer data. */
type PurchaseFinder = typeof findHeld;

/**
 * An account's own purchase by our id or by its ref_id, in a state that a majority holds: the client acts on it. A ref_id
 * that looks like an id of ours is found too: the account's own reference wins.
 * @throws NotFoundError (404/02), also for another account's transaction.
 */
export async function findPurchase(
  accountId: string,
  idOrRef: string,
  find: PurchaseFinder = findHeld,
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

type Ref = Pick<Purchase, 'accountId' | 'refId'>;

/**
 * The purchase of an account under a ref_id, if a majority holds it; null otherwise. This first look costs one command. It
 * can miss a purchase that was just accepted, so no refusal may rest on it.
 */
export const findByRef = buildRefLoader((filter) =>
  getQuickCollection(purchases).find(filter, { readConcern: 'majority' }).toArray(),
);

const findNewestByRef = buildRefLoader((filter) =>
  getQuickCollection(purchases).find(filter, { readConcern: 'local' }).toArray(),
);

/**
 * The same after a refusal: it sees every purchase that the refusal can follow from. Only callers whose purchase is there
 * wait for the majority, each by itself.
 * @throws DependencyError if what was seen is gone: a primary that steps down may show what the next one never had.
 */
export async function findByRefAfterRefusal({ accountId, refId }: Ref): Promise<Purchase | null> {
  if ((await findNewestByRef({ accountId, refId })) === null) {
    return null;
  }
  const [confirmed] = await findConfirmed(purchases, { accountId, refId });
  if (!confirmed) {
    throw new DependencyError(new Error('A purchase was seen that no majority holds'));
  }
  return confirmed;
}

/** Those that ask at the same time share a query. */
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
 * What an account has bought under these ref_ids, by ref_id, as a majority of the database holds it: "not found" is never said
 * of what a client may have seen. Not by `findByRef`: whoever buys waits for its shared query.
 */
export async function findByRefs(accountId: string, refIds: string[]): Promise<Map<string, Purchase>> {
  const found = await findConfirmed(purchases, { accountId, refId: { $in: refIds } });
  return new Map(found.map((each) => [each.refId, each]));
}

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
