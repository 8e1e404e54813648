import type { Filter } from 'mongodb';
import { type Snapshot, withSnapshot } from '../database/mongo.js';
import { normalizeCustomerNumber } from '../products/customer-number.js';
import { type Period, parsePeriod } from '../shared/business-time.js';
import { getTokenSpellings } from './pln-token.js';
import { purchases, type Purchase, type PurchaseStatus } from './purchase.model.js';
import { buildCountedPage } from '../shared/collections.js';
import { areTotalsComplete } from '../money/totals/totals-state.model.js';
import { findPagePosition } from './history-position.js';
import type { Side } from './purchase-totals.js';

/** Search terms of an account's history. At least one is set. */
export interface HistorySearch {
  productCode?: string | undefined;
  /**
   * The customer number as sent or as stored. Sellers cannot search by it, because they see only
   * its last digits.
   */
  customerNumber?: string | undefined;
  /** The whole serial number, or the digits of an electricity token with or without hyphens. */
  serialNumber?: string | undefined;
}

/** `accountId` selects the purchases of a buyer, `sellerId` the sales of a seller. */
export type HistoryOwner = { accountId: string } | { sellerId: string };

/** Maximum number of purchases scanned by one search, newest first. It bounds the cost. */
const searchedMax = 5_000;

/**
 * Searches a buyer's purchases or a seller's sales. Returns one page, newest first, and the number
 * of matches among the scanned rows. All reads use the caller's snapshot.
 *
 * Buyers use the indexes account_serial_number, customer_newest and account_product_newest. Sellers
 * use seller_serial_number and seller_product_newest. No index covers the status, so it is compared
 * after the read.
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

/** `$type` makes the query fit the partial index. */
function buildSerialNumberFilter(serialNumber: string): Filter<Purchase> {
  const digits = serialNumber.replace(/[- ]/g, '');
  const spellings = /^\d{20}$/.test(digits) ? getTokenSpellings({ token: digits }) : [];
  const isIt = { serialNumber: { $type: 'string' as const, $eq: serialNumber } };
  return spellings.length === 0
    ? isIt
    : {
        $or: [
          isIt,
          // A token is followed by a slash and the owner's name. "0" is the character after "/".
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

/** Purchase statuses by the filter values of docs/reference/api/lists.md. */
const statusesByFilter: Record<NonNullable<HistoryQuery['status']>, PurchaseStatus[]> = {
  pending: ['PENDING'],
  processing: ['PROCESSING'],
  success: ['SUCCESS'],
  failed: ['FAILED', 'REFUNDED'],
};

const newestFirst = { createdAt: -1, _id: -1 } as const;
/** From this offset on, rows are skipped in the index, without loading documents. */
const skipByIndexFrom = 100;

/**
 * Lists one page of a buyer's or seller's history, newest first, and the total. A page after the
 * last one is empty. The total and the position come from the daily totals (decision 016), so the
 * cost does not grow with the history.
 *
 * Indexes: account_newest and account_status_newest, or seller_newest and seller_status_newest. All
 * reads use one majority snapshot, so the total fits the rows and no failover rolls them back.
 * @throws ValidationError for an invalid period.
 */
export async function listTransactions(
  query: HistoryQuery,
): Promise<{ purchases: Purchase[]; total: number; period: Period }> {
  const period = parsePeriod(query.startDate, query.endDate);
  const areComplete = query.sought === undefined && (await areTotalsComplete());
  const found = await withSnapshot((snapshot) => listAtSnapshot(snapshot, { ...query, period, areComplete }));
  return { purchases: found.purchases, total: found.total, period };
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
  // Rows that the totals do not count must still be reachable.
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
