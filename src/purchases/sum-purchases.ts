import { withSnapshot } from '../database/mongo.js';
import { readTotals } from '../money/totals/read-totals.js';
import { areTotalsComplete } from '../money/totals/totals-state.model.js';
import { getBusinessDay } from '../shared/business-time.js';
import { now } from '../shared/clock.js';
import { isAnsweredByIndex, sumNewest, type PurchaseFilter } from './operator-list.js';
import { purchaseStatuses, type PurchaseStatus } from './purchase.model.js';
import type { Side } from './purchase-totals.js';

export interface PurchaseSums {
  /** Number and sum of prices in rupiah by status. Statuses without purchases are absent. */
  byStatus: { status: PurchaseStatus; count: number; amount: number }[];
  /** The platform's share of these prices in rupiah. */
  commission: number;
  /** Creation time of the oldest row that was summed. Null if all matching rows were summed. */
  searchedBackTo: Date | null;
}

const summedMax = 5_000;
/** A day before the first possible purchase, YYYY-MM-DD. */
const firstDay = '2000-01-01';

/**
 * Sums the purchases that match a filter. For one account or seller it reads the daily totals,
 * however many purchases there are. Otherwise it sums at most the 5,000 newest rows of the index.
 * @param filter `since` and `until` are whole business days.
 */
export async function sumPurchases(filter: PurchaseFilter): Promise<PurchaseSums> {
  const owner = findTotalsOwner(filter);
  return owner && (await areTotalsComplete()) ? sumFromTotals(filter, owner) : sumFromRows(filter);
}

interface Owner {
  side: Side;
  accountId: string;
}

/** Returns the account whose daily totals cover the filter, or null. */
function findTotalsOwner({ accountId, sellerId, ...filter }: PurchaseFilter): Owner | null {
  if (!isAnsweredByIndex(filter) || (accountId !== undefined && sellerId !== undefined)) {
    return null;
  }
  if (accountId !== undefined) {
    return { side: 'bought', accountId };
  }
  return sellerId === undefined ? null : { side: 'sold', accountId: sellerId };
}

async function sumFromTotals(
  { status, since, until }: PurchaseFilter,
  { side, accountId }: Owner,
): Promise<PurchaseSums> {
  const to = getBusinessDay(until ?? now()).day;
  const from = since ? getBusinessDay(since).day : firstDay;
  const only = ['count', 'amount', 'commission'];
  const days = await withSnapshot((snapshot) =>
    readTotals(snapshot, { accountId, from, to, path: side, only }),
  );
  const sum = (path: string) =>
    [...days.values()].reduce((all, counters) => all + (counters.get(path) ?? 0), 0);
  return {
    byStatus: purchaseStatuses
      .filter((each) => status === undefined || each === status)
      .map((each) => ({ status: each, count: sum(`count.${each}`), amount: sum(`amount.${each}`) }))
      .filter(({ count }) => count > 0),
    commission: status === undefined || status === 'SUCCESS' ? sum('commission') : 0,
    searchedBackTo: null,
  };
}

async function sumFromRows(filter: PurchaseFilter): Promise<PurchaseSums> {
  const { sums, searchedBackTo } = await sumNewest(filter, summedMax);
  return {
    byStatus: purchaseStatuses.flatMap((status) =>
      sums.filter((each) => each.status === status).map(({ count, amount }) => ({ status, count, amount })),
    ),
    commission: sums.find(({ status }) => status === 'SUCCESS')?.commission ?? 0,
    searchedBackTo,
  };
}
