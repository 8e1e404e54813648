import { batchCalls } from '../../shared/gathered.js';
import { getQuickCollection } from '../../database/mongo.js';
import { purchases, type Purchase } from '../purchase.model.js';
import type { PurchaseData } from './fulfil-purchase.job.js';

/** A purchase as it is now; null if there is none. Those that ask at the same time share a query. */
export const loadPurchase = batchCalls<PurchaseData, Purchase | null>({
  itemsMax: 100,
  async run(wanted) {
    const found = await getQuickCollection(purchases)
      .find({
        accountId: { $in: [...new Set(wanted.map(({ accountId }) => accountId))] },
        _id: { $in: wanted.map(({ purchaseId }) => purchaseId) },
      })
      .toArray();
    const byId = new Map(found.map((each) => [each._id, each]));
    return wanted.map(({ purchaseId }) => byId.get(purchaseId) ?? null);
  },
});
