import type { Filter } from 'mongodb';
import { type Snapshot, atSnapshot } from '../database/mongo.js';
import { normalizeCustomerNumber } from '../products/customer-number.js';
import { type Period, parsePeriod } from '../shared/business-time.js';
import { getTokenSpellings } from './pln-token.js';
import { purchases, type Purchase, type PurchaseStatus } from './purchase.model.js';
import { buildCountedPage } from '../shared/collections.js';
import { areTotalsComplete } from '../money/totals/totals-state.model.js';
import { findPagePosition } from './history-position.js';
import type { Side } from './purchase-totals.js';

/** What an account looks for in its history; at least one of them. */
export interface HistorySearch {
  productCode?: string | undefined;
  /** As it was sent, or as we keep it. A seller never looks for it: it sees the end of the number alone. */
  customerNumber?: string | undefined;
  /** The whole of it, or the digits of a PLN token, with or without its hyphens. */
  serialNumber?: string | undefined;
}

/** Whose history it is: what was bought, or what was sold. */
export type HistoryOwner = { accountId: string } | { sellerId: string };

/** So many purchases are looked at, the newest first, however few of them fit: a call costs no more than that. */
const searchedMax = 5_000;

/**
 * One page of a buyer's purchases or a seller's sales that fit, newest first, and how many of those looked at do. Served by the
 * indexes account_serial_number, customer_newest or account_product_newest, of sellers seller_serial_number or
 * seller_product_newest; the status is compared here. All of it is of the moment of the caller's snapshot.
 */
export async function searchHistory(
  snapshot: Snapshot,
  wanted: HistorySearch & { owner: HistoryOwner; period: Period; statuses: readonly PurchaseStatus[] | null },
  { offset, limit }: { offset: number; limit: number },
): Promise<{ purchases: Purchase[]; total: number }> {
  const { owner, period, statuses } = wanted;
  const looked = await purchases
    .find<Pick<Purchase, '_id' | 'accountId' | 'status'>>(
      { ...owner, ...buildSearchFilter(wanted), createdAt: { $gte: period.start, $lte: period.end } },
      {
        ...snapshot,
        projection: { accountId: 1, status: 1 },
        sort: { createdAt: -1, _id: -1 },
        singleBatch: true,
        batchSize: searchedMax,
        limit: searchedMax,
      },
    )
    .toArray();
  const fitting = looked.filter(({ status }) => statuses === null || statuses.includes(status));
  const shown = fitting.slice(offset, offset + limit);
  const ids = shown.map(({ _id }) => _id);
  const accountIds = [...new Set(shown.map(({ accountId }) => accountId))];
  const found =
    ids.length === 0
      ? []
      : await purchases
          .find(
            { _id: { $in: ids }, accountId: { $in: accountIds } },
            { ...snapshot, singleBatch: true, batchSize: limit, limit },
          )
          .toArray();
  const byId = new Map(found.map((each) => [each._id, each]));
  return { total: fitting.length, purchases: ids.flatMap((id) => byId.get(id) ?? []) };
}

function buildSearchFilter({ productCode, customerNumber, serialNumber }: HistorySearch): Filter<Purchase> {
  return {
    ...(productCode !== undefined && { productCode }),
    ...(customerNumber !== undefined && {
      customerNumber: {
        $in: [...new Set([customerNumber, normalizeCustomerNumber('phone', customerNumber)])],
      },
    }),
    ...(serialNumber !== undefined && buildSerialNumberFilter(serialNumber)),
  };
}

/** The type is what the index is limited to. */
function buildSerialNumberFilter(serialNumber: string): Filter<Purchase> {
  const digits = serialNumber.replace(/[- ]/g, '');
  const spellings = /^\d{20}$/.test(digits) ? getTokenSpellings({ token: digits }) : [];
  const isIt = { serialNumber: { $type: 'string' as const, $eq: serialNumber } };
  return spellings.length === 0
    ? isIt
    : {
        $or: [
          isIt,
          // As a token stands before its owner's name: after a slash comes 0.
          ...spellings.map((each) => ({
            serialNumber: { $type: 'string' as const, $gte: `${each}/`, $lt: `${each}0` },
          })),
        ],
      };
}

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
