import { gathered } from '../shared/gathered.js';
import { quick } from '../database/mongo.js';
import { purchases, type Purchase } from './purchase.model.js';

/**
 * What an account has bought under a ref_id, if a majority holds it; null otherwise. Those that ask at the same time
 * share a query.
 */
export const findByRef = gathered<Pick<Purchase, 'accountId' | 'refId'>, Purchase | null>({
  itemsMax: 100,
  async run(wanted) {
    const $or = wanted.map(({ accountId, refId }) => ({ accountId, refId }));
    const found = await quick(purchases).find({ $or }, { readConcern: 'majority' }).toArray();
    const byRef = new Map(found.map((each) => [`${each.accountId} ${each.refId}`, each]));
    return wanted.map(({ accountId, refId }) => byRef.get(`${accountId} ${refId}`) ?? null);
  },
});
