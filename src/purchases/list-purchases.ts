import { periodOf } from '../shared/business-time.js';
import { seenPage } from '../shared/seen-page.js';
import { totalsAreComplete } from '../money/totals/totals-state.model.js';
import { findInHistory, type HistoryOwner, type Sought } from './find-in-history.js';
import { findPlace } from './history-place.js';
import { PurchaseModel, purchases, type Purchase, type PurchaseStatus } from './purchase.model.js';
import type { Side } from './totals-of.js';

export interface HistoryQuery {
  owner: HistoryOwner;
  status?: 'pending' | 'processing' | 'success' | 'failed' | undefined;
  startDate?: string | undefined;
  endDate?: string | undefined;
  sought?: Sought | undefined;
  page: number;
  limit: number;
}

/** What each filter word of docs/interface.md#history stands for. */
const statusesOf: Record<NonNullable<HistoryQuery['status']>, PurchaseStatus[]> = {
  pending: ['PENDING'],
  processing: ['PROCESSING'],
  success: ['SUCCESS'],
  failed: ['FAILED', 'REFUNDED'],
};

const newestFirst = { createdAt: -1, _id: -1 } as const;
/** From here on the skipped ones are not fetched. */
const skipByIndexFrom = 100;

/**
 * One page of a buyer's or seller's history, newest first, and how many there are in all. A page past the last is
 * empty. The number and the place of the page come from the daily totals (decision 045), the page from the rows; so
 * neither grows with the history. Served by the account_newest / account_status_newest indexes (seller_* for sellers).
 * @throws ValidationError for an impossible period.
 */
export async function listTransactions(
  query: HistoryQuery,
): Promise<{ purchases: Purchase[]; total: number }> {
  const { owner, status, page, limit } = query;
  const period = periodOf(query.startDate, query.endDate);
  const statuses = status ? statusesOf[status] : null;
  const filter = (since: Date, until: Date) => ({
    ...owner,
    ...(statuses && { status: { $in: statuses } }),
    createdAt: { $gte: since, $lte: until },
  });
  const offset = (page - 1) * limit;
  if (query.sought) {
    return findInHistory({ ...query.sought, owner, period, statuses }, { offset, limit });
  }
  if (!(await totalsAreComplete())) {
    // No purchase changes from one of the wanted statuses to another, so each is seen once.
    const whole = filter(period.start, period.end);
    const [found, counted] = await Promise.all([
      readPage(whole, offset, limit + 1),
      PurchaseModel.countDocuments(whole),
    ]);
    const { rows, total } = seenPage(found, { offset, limit, counted });
    return { purchases: rows, total };
  }
  const { total: counted, place } = await findPlace(
    { ...sideOf(owner), statuses, period },
    { offset, limit },
  );
  if (!place) {
    return { purchases: [], total: counted };
  }
  const found = await readPage(filter(place.since, place.until), place.skip, limit + 1);
  const { rows, total } = seenPage(
    found.length < place.length
      ? // Some have changed since they were counted: the next older ones follow.
        await readPage(filter(period.start, place.until), place.skip, limit + 1)
      : found,
    { offset, limit, counted },
  );
  return { purchases: rows, total };
}

function sideOf(owner: HistoryQuery['owner']): { side: Side; accountId: string } {
  return 'accountId' in owner
    ? { side: 'bought', accountId: owner.accountId }
    : { side: 'sold', accountId: owner.sellerId };
}

async function readPage(filter: object, skip: number, limit: number): Promise<Purchase[]> {
  if (skip < skipByIndexFrom) {
    return PurchaseModel.find(filter).sort(newestFirst).skip(skip).limit(limit).lean<Purchase[]>();
  }
  const found = await purchases
    .find(filter)
    .project({ _id: 1, accountId: 1 })
    .sort(newestFirst)
    .skip(skip)
    .limit(limit)
    .toArray();
  return PurchaseModel.find({
    _id: { $in: found.map((each) => String(each['_id'])) },
    accountId: { $in: [...new Set(found.map((each) => String(each['accountId'])))] },
  })
    .sort(newestFirst)
    .lean<Purchase[]>();
}
