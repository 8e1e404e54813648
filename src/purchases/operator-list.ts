import type { Filter } from 'mongodb';
import { getEarlier, getIdRange, parseCreationKey, formatCreationKey } from '../database/document-page.js';
import { purchases, type Purchase, type PurchaseStatus } from './purchase.model.js';
import { requireAccount } from '../accounts/find-account.js';
import { parseDays } from '../shared/business-time.js';

export interface PurchaseFilter {
  /** The buyer. */
  accountId?: string | undefined;
  sellerId?: string | undefined;
  status?: PurchaseStatus | undefined;
  productCode?: string | undefined;
  /** Minimum price in rupiah, inclusive. */
  priceFrom?: number | undefined;
  /** Maximum price in rupiah, inclusive. */
  priceTo?: number | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

export interface PurchasePage {
  purchases: Purchase[];
  /** Cursor of the next page. Null on the last page. */
  next: string | null;
  /**
   * Creation time of the oldest row scanned. With a selective filter, a page can have fewer rows
   * than its limit.
   */
  searchedBackTo: Date | null;
}

type PurchaseKey = Pick<Purchase, '_id' | 'createdAt'>;
type ScannedPurchase = PurchaseKey &
  Pick<Purchase, 'accountId' | 'sellerId' | 'status' | 'productCode' | 'price'>;

const scannedFields = { accountId: 1, sellerId: 1, status: 1, productCode: 1, price: 1, createdAt: 1 };

/** Maximum number of rows scanned for one page. */
const scannedMax = 1_000;

/** Operators act on these rows, so a failover must not roll them back. */
const majorityRead = { readConcern: 'majority' } as const;

/**
 * Returns a page of purchases for operators, newest first, with keyset pagination. A filter by
 * account or seller uses its indexes (account_newest, seller_newest and those by status). All other
 * filters use `_id`, which rises with time. Conditions without an index scan a bounded number of
 * rows, so a page can have fewer rows than its limit.
 * @throws ValidationError if `after` is not a cursor of an earlier page.
 */
export async function findPurchasePage(
  filter: PurchaseFilter,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<PurchasePage> {
  const key = after === undefined ? null : parseCreationKey(after);
  const looked = await scanPurchases(filter, key, isExactQuery(filter) ? limit + 1 : scannedMax);
  const fitting = looked.filter((each) => matchesFilter(each, filter));
  const shown = fitting.slice(0, limit);
  const isFull = fitting.length > limit;
  const end = isFull ? shown.at(-1) : looked.length === scannedMax ? looked.at(-1) : undefined;
  return {
    purchases: await loadPurchases(shown),
    next: end ? formatCreationKey(end) : null,
    searchedBackTo: isFull ? null : (end?.createdAt ?? null),
  };
}

export interface StatusSum {
  status: PurchaseStatus;
  count: number;
  /** Sum of the prices in rupiah. */
  amount: number;
  /** The platform's share of these prices in rupiah. */
  commission: number;
}

/**
 * Sums the matching purchases among the newest `max` rows of the index. MongoDB aggregates them, so
 * that this process does not load the rows.
 * @returns `lookedBackTo` is null if there are no older rows.
 */
export async function sumNewest(
  filter: PurchaseFilter,
  max: number,
): Promise<{ sums: StatusSum[]; searchedBackTo: Date | null }> {
  const { query, sort } = buildIndexQuery(filter, null);
  const fitting = buildConditions(filter).map(([field, operator, value]) => ({
    [operator]: [`$${field}`, value],
  }));
  // Within one owner and status, the index position of a row never changes. So each row is counted
  // once.
  const found = await purchases
    .aggregate<Omit<StatusSum, 'status'> & { _id: { status: PurchaseStatus; fits: boolean }; oldest: Date }>(
      [
        { $match: query },
        { $sort: sort },
        { $limit: max },
        {
          $group: {
            _id: { status: '$status', fits: { $and: fitting } },
            count: { $sum: 1 },
            amount: { $sum: '$price' },
            commission: { $sum: '$commissionAmount' },
            oldest: { $min: '$createdAt' },
          },
        },
      ],
      majorityRead,
    )
    .toArray();
  const looked = found.reduce((all, { count }) => all + count, 0);
  const oldestMs = Math.min(...found.map(({ oldest }) => oldest.getTime()));
  return {
    sums: found
      .filter(({ _id }) => _id.fits)
      .map(({ _id: { status }, count, amount, commission }) => ({ status, count, amount, commission })),
    searchedBackTo: looked === max ? new Date(oldestMs) : null,
  };
}

function scanPurchases(
  filter: PurchaseFilter,
  key: PurchaseKey | null,
  max: number,
): Promise<ScannedPurchase[]> {
  const { query, sort } = buildIndexQuery(filter, key);
  return purchases
    .find<ScannedPurchase>(query, { ...majorityRead, projection: scannedFields })
    .sort(sort)
    .limit(max)
    .toArray();
}

/** Builds the part of the filter that an index supports, sorted in index order. */
function buildIndexQuery(
  filter: PurchaseFilter,
  key: PurchaseKey | null,
): { query: Filter<Purchase>; sort: Record<string, -1> } {
  return hasOwner(filter)
    ? { query: buildOwnerFilter(filter, key), sort: { createdAt: -1, _id: -1 } }
    : { query: buildTimeFilter(filter, key), sort: { _id: -1 } };
}

function hasOwner({ accountId, sellerId }: PurchaseFilter): boolean {
  return accountId !== undefined || sellerId !== undefined;
}

/** True if the index query alone matches exactly the rows of the filter. */
function isExactQuery(filter: PurchaseFilter): boolean {
  const { accountId, sellerId, status, since, until } = filter;
  return hasOwner(filter)
    ? isAnsweredByIndex(filter) && (accountId === undefined || sellerId === undefined)
    : isAnsweredByIndex(filter) && [status, since, until].every((each) => each === undefined);
}

/** True if an index supports every condition of the filter. */
export function isAnsweredByIndex({ productCode, priceFrom, priceTo }: PurchaseFilter): boolean {
  return [productCode, priceFrom, priceTo].every((each) => each === undefined);
}

function buildOwnerFilter(
  { accountId, sellerId, status, since, until }: PurchaseFilter,
  key: PurchaseKey | null,
) {
  const createdAt = {
    ...(since && { $gte: since }),
    ...((key ?? until) && { $lte: getEarlier(key?.createdAt, until) }),
  };
  return {
    ...(accountId === undefined ? { sellerId: sellerId ?? null } : { accountId }),
    ...(status && { status }),
    ...(Object.keys(createdAt).length > 0 && { createdAt }),
    ...(key && {
      $or: [{ createdAt: { $lt: key.createdAt } }, { createdAt: key.createdAt, _id: { $lt: key._id } }],
    }),
  } as Filter<Purchase>;
}

function buildTimeFilter(filter: PurchaseFilter, key: PurchaseKey | null): Filter<Purchase> {
  const _id = getIdRange(key, filter);
  return Object.keys(_id).length > 0 ? { _id } : {};
}

function matchesFilter(each: ScannedPurchase, filter: PurchaseFilter): boolean {
  return buildConditions(filter).every(([field, operator, value]) => {
    const found = each[field];
    switch (operator) {
      case '$eq':
        return found === value;
      case '$gte':
        return found !== null && found >= value;
      case '$lte':
        return found !== null && found <= value;
    }
  });
}

type Condition = [
  field: keyof ScannedPurchase,
  operator: '$eq' | '$gte' | '$lte',
  value: string | number | Date,
];

/** Builds the conditions of the filter. This process evaluates them for rows, MongoDB for sums. */
function buildConditions(filter: PurchaseFilter): Condition[] {
  const { accountId, sellerId, status, productCode, priceFrom, priceTo, since, until } = filter;
  const asked: [Condition[0], Condition[1], Condition[2] | undefined][] = [
    ['accountId', '$eq', accountId],
    ['sellerId', '$eq', sellerId],
    ['status', '$eq', status],
    ['productCode', '$eq', productCode],
    ['price', '$gte', priceFrom],
    ['price', '$lte', priceTo],
    ['createdAt', '$gte', since],
    ['createdAt', '$lte', until],
  ];
  return asked.flatMap(([field, operator, value]) =>
    value === undefined ? [] : [[field, operator, value] satisfies Condition],
  );
}

/** Loads the purchases in the order of the keys. */
async function loadPurchases(keys: ScannedPurchase[]): Promise<Purchase[]> {
  if (keys.length === 0) {
    return [];
  }
  const found = await purchases
    .find(
      {
        _id: { $in: keys.map(({ _id }) => _id) },
        accountId: { $in: [...new Set(keys.map(({ accountId }) => accountId))] },
      },
      majorityRead,
    )
    .toArray();
  const byId = new Map(found.map((each) => [each._id, each]));
  return keys.flatMap(({ _id }) => byId.get(_id) ?? []);
}

/**
 * A purchase filter with usernames instead of account ids and YYYY-MM-DD business days instead of
 * times.
 */
export interface NamedPurchaseFilter extends Omit<
  PurchaseFilter,
  'accountId' | 'sellerId' | 'since' | 'until'
> {
  account?: string | undefined;
  seller?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

/**
 * Resolves usernames and days to ids and times.
 * @throws NotFoundError if an account does not exist.
 */
export async function resolvePurchaseFilter(named: NamedPurchaseFilter): Promise<PurchaseFilter> {
  const { account, seller, from, to, ...rest } = named;
  const [buyer, provider] = await Promise.all([
    account === undefined ? undefined : requireAccount(account),
    seller === undefined ? undefined : requireAccount(seller),
  ]);
  return { ...rest, accountId: buyer?._id, sellerId: provider?._id, ...parseDays({ from, to }) };
}

/** Returns the ids of the buyers and sellers of purchases. */
export function getPartyIds(purchases: readonly Purchase[]): string[] {
  return purchases.flatMap(({ accountId, sellerId }) =>
    sellerId === null ? [accountId] : [accountId, sellerId],
  );
}
