import { findConfirmed } from '../database/find-confirmed.js';
import { getQuickCollection } from '../database/mongo.js';
import { DependencyError } from '../shared/errors.js';
import { batchCalls } from '../shared/gathered.js';
import { purchases, type Purchase } from './purchase.model.js';

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
