import type { Filter } from 'mongodb';
import { atSnapshot, type Snapshot } from '../database/mongo.js';
import { parsePeriod, type Period } from '../shared/business-time.js';
import { buildCountedPage } from '../shared/seen-page.js';
import { areTotalsComplete } from '../money/totals/totals-state.model.js';
import { searchHistory, type HistoryOwner, type HistorySearch } from './find-in-history.js';
import { findPagePosition } from './history-place.js';
import { purchases, type Purchase, type PurchaseStatus } from './purchase.model.js';
import type { Side } from './totals-of.js';

export interface HistoryQuery {
  owner: HistoryOwner;
  status?: 'pending' | 'processing' | 'success' | 'failed' | undefined;
  startDate?: string | undefined;
  endDate?: string | undefined;
  sought?: HistorySearch | undefined;
  page: number;
  limit: number;
}

/** What each filter word of docs/reference/api/lists.md stands for. */
const statusesByFilter: Record<NonNullable<HistoryQuery['status']>, PurchaseStatus[]> = {
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
 * empty. The number and the place of the page come from the daily totals (decision 016), the page from the rows; so
 * neither grows with the history. Served by the account_newest / account_status_newest indexes (seller_* for sellers).
 *
 * All of it is of one moment that a majority holds: no row is passed over between count and reading, and no failover takes back
 * what was shown.
 * @throws ValidationError for an impossible period.
 */
export async function listTransactions(
  query: HistoryQuery,
): Promise<{ purchases: Purchase[]; total: number }> {
  const period = parsePeriod(query.startDate, query.endDate);
  const areComplete = query.sought === undefined && (await areTotalsComplete());
  return atSnapshot((snapshot) => listAtSnapshot(snapshot, { ...query, period, areComplete }));
}

async function listAtSnapshot(
  snapshot: Snapshot,
  query: HistoryQuery & { period: Period; areComplete: boolean },
): Promise<{ purchases: Purchase[]; total: number }> {
  const { owner, status, sought, page, limit, period } = query;
  const statuses = status ? statusesByFilter[status] : null;
  const filter = (since: Date, until: Date) => ({
    ...owner,
    ...(statuses && { status: { $in: statuses } }),
    createdAt: { $gte: since, $lte: until },
  });
  const offset = (page - 1) * limit;
  if (sought) {
    return searchHistory(snapshot, { ...sought, owner, period, statuses }, { offset, limit });
  }
  if (!query.areComplete) {
    const whole = filter(period.start, period.end);
    const total = await purchases.countDocuments(whole, { ...snapshot });
    return { purchases: await readPage(snapshot, whole, { skip: offset, limit }), total };
  }
  const { total: counted, place } = await findPagePosition(
    { ...getSide(owner), snapshot, statuses, period },
    { offset, limit },
  );
  if (!place) {
    return { purchases: [], total: counted };
  }
  const found = await readPage(snapshot, filter(place.since, place.until), {
    skip: place.skip,
    limit: limit + 1,
  });
  // Of one moment both, but rows that no total knows must not be out of reach.
  const { rows, total } = buildCountedPage(found, { offset, limit, counted });
  return { purchases: rows, total };
}

function getSide(owner: HistoryQuery['owner']): { side: Side; accountId: string } {
  return 'accountId' in owner
    ? { side: 'bought', accountId: owner.accountId }
    : { side: 'sold', accountId: owner.sellerId };
}

async function readPage(
  snapshot: Snapshot,
  filter: Filter<Purchase>,
  { skip, limit }: { skip: number; limit: number },
): Promise<Purchase[]> {
  const options = { ...snapshot, singleBatch: true, batchSize: limit, limit, sort: newestFirst };
  if (skip < skipByIndexFrom) {
    return purchases.find(filter, { ...options, skip }).toArray();
  }
  const found = await purchases
    .find<Pick<Purchase, '_id' | 'accountId'>>(filter, { ...options, skip, projection: { accountId: 1 } })
    .toArray();
  return purchases
    .find(
      {
        _id: { $in: found.map(({ _id }) => _id) },
        accountId: { $in: [...new Set(found.map(({ accountId }) => accountId))] },
      },
      options,
    )
    .toArray();
}
