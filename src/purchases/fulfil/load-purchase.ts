import { gathered } from '../../shared/gathered.js';
import { quick } from '../../database/mongo.js';
import { purchases, type Purchase } from '../purchase.model.js';
import type { PurchaseData } from './fulfil-purchase.job.js';

/** A purchase as it is now; null if there is none. Those that ask at the same time share a query. */
export const loadPurchase = gathered<PurchaseData, Purchase | null>({
  itemsMax: 100,
  async run(wanted) {
    const known = wanted.filter(({ accountId }) => accountId !== null);
    const unknown = wanted.filter(({ accountId }) => accountId === null);
    const found = await Promise.all([
      read(known, { accountId: { $in: known.map(({ accountId }) => accountId ?? '') } }),
      // Jobs of an earlier release.
      read(unknown, {}),
    ]);
    const byId = new Map(found.flat().map((each) => [each._id, each]));
    return wanted.map(({ purchaseId }) => byId.get(purchaseId) ?? null);
  },
});

function read(of: PurchaseData[], owner: object): Promise<Purchase[]> {
  const ids = of.map(({ purchaseId }) => purchaseId);
  return ids.length === 0
    ? Promise.resolve([])
    : quick(purchases)
        .find({ ...owner, _id: { $in: ids } })
        .toArray();
}
