import { getBusinessDayByName } from '../shared/business-time.js';
import type { Snapshot } from '../database/mongo.js';
import { addToCounters, type Counters } from '../money/totals/counters.js';
import { purchases } from './purchase.model.js';
import { getCounters, ownerField, sides, type CountedPurchase } from './totals-of.js';

/** The verification reads whatever there is, also a row that has lost a name. */
type StoredPurchase = { _id: string } & Omit<CountedPurchase, 'productCode' | 'subcategory'> &
  Partial<CountedPurchase>;

const countedFields = {
  accountId: 1,
  sellerId: 1,
  status: 1,
  price: 1,
  commissionAmount: 1,
  productCode: 1,
  subcategory: 1,
  createdAt: 1,
};

const pageSize = 1_000;

/**
 * What the totals of an account's day have to be, counted from its purchases at the moment of the caller's snapshot.
 * They pass a page at a time: memory does not grow with the day.
 */
export async function countDayTotals(snapshot: Snapshot, accountId: string, day: string): Promise<Counters> {
  const counters: Counters = new Map();
  for (const side of sides) {
    for await (const page of readPurchasePages(snapshot, { [ownerField[side]]: accountId }, day)) {
      page.forEach((each) => {
        addToCounters(counters, getCounters({ productCode: '', subcategory: '', ...each }, side));
      });
    }
  }
  return counters;
}

/** Each page is found by where the one before ended: a cursor's `getMore` knows no snapshot. */
async function* readPurchasePages(
  snapshot: Snapshot,
  owner: Record<string, string>,
  day: string,
): AsyncGenerator<StoredPurchase[]> {
  const { startMs, endMs } = getBusinessDayByName(day);
  let last: StoredPurchase | undefined;
  do {
    const page: StoredPurchase[] = await purchases
      .find(
        {
          ...owner,
          createdAt: { $gte: new Date(startMs), $lte: last?.createdAt ?? new Date(endMs) },
          ...(last && { $or: [{ createdAt: { $lt: last.createdAt } }, { _id: { $lt: last._id } }] }),
        },
        { ...snapshot, singleBatch: true, limit: pageSize, batchSize: pageSize },
      )
      .project<StoredPurchase>(countedFields)
      .sort({ createdAt: -1, _id: -1 })
      .toArray();
    yield page;
    last = page.length < pageSize ? undefined : page.at(-1);
  } while (last);
}
