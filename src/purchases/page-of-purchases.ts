import type { Filter } from 'mongodb';
import { earlier, idsOfTime, keyFrom, textOfKey } from '../database/creation-key.js';
import { purchases, type Purchase, type PurchaseStatus } from './purchase.model.js';

export interface PurchaseFilter {
  /** The buyer's. */
  accountId?: string | undefined;
  sellerId?: string | undefined;
  status?: PurchaseStatus | undefined;
  productCode?: string | undefined;
  /** Rupiah, both included. */
  priceFrom?: number | undefined;
  priceTo?: number | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

export interface PurchasePage {
  purchases: Purchase[];
  /** Where the next page begins; null at the end. */
  next: string | null;
  /** How far back this page has looked. A filter that fits little ends a page before it is full. */
  lookedBackTo: Date | null;
}

type Key = Pick<Purchase, '_id' | 'createdAt'>;
type Looked = Key & Pick<Purchase, 'accountId' | 'sellerId' | 'status' | 'productCode' | 'price'>;

const lookedFields = { accountId: 1, sellerId: 1, status: 1, productCode: 1, price: 1, createdAt: 1 };

/** So many purchases are looked at for one page, however few of them fit. */
const lookedMax = 1_000;

/** People act on what they are shown, which a new primary must not have lost. */
const held = { readConcern: 'majority' } as const;

/**
 * A page of purchases for the operator, newest first, by a key and never by an offset. Those of an account or a seller
 * are read along its index (account_newest, seller_newest and those by status); those of everybody along `_id`, which
 * rises with time. What no index knows is looked for among a bounded number: the page then ends early, and says where.
 * @throws ValidationError for an `after` that no page has given.
 */
export async function pageOfPurchases(
  filter: PurchaseFilter,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<PurchasePage> {
  const key = after === undefined ? null : keyFrom(after);
  const looked = await look(filter, key, isExact(filter) ? limit + 1 : lookedMax);
  const fitting = looked.filter((each) => fits(each, filter));
  const shown = fitting.slice(0, limit);
  const isFull = fitting.length > limit;
  const end = isFull ? shown.at(-1) : looked.length === lookedMax ? looked.at(-1) : undefined;
  return {
    purchases: await load(shown),
    next: end ? textOfKey(end) : null,
    lookedBackTo: isFull ? null : (end?.createdAt ?? null),
  };
}

export interface SumOfStatus {
  status: PurchaseStatus;
  count: number;
  /** Rupiah: the prices, and what of them stays with the platform. */
  amount: number;
  commission: number;
}

/**
 * What fits among so many of the newest that its index finds, added up by MongoDB: they are too many to pass through a
 * process that answers others meanwhile.
 * @returns `lookedBackTo`: null if there are no older ones.
 */
export async function sumOfNewest(
  filter: PurchaseFilter,
  max: number,
): Promise<{ sums: SumOfStatus[]; lookedBackTo: Date | null }> {
  const { query, sort } = searchOf(filter, null);
  const fitting = conditionsOf(filter).map(([field, operator, value]) => ({
    [operator]: [`$${field}`, value],
  }));
  // Within one owner and status the order never changes, so each is added once.
  const found = await purchases
    .aggregate<
      Omit<SumOfStatus, 'status'> & { _id: { status: PurchaseStatus; fits: boolean }; oldest: Date }
    >(
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
      held,
    )
    .toArray();
  const looked = found.reduce((all, { count }) => all + count, 0);
  const oldestMs = Math.min(...found.map(({ oldest }) => oldest.getTime()));
  return {
    sums: found
      .filter(({ _id }) => _id.fits)
      .map(({ _id: { status }, count, amount, commission }) => ({ status, count, amount, commission })),
    lookedBackTo: looked === max ? new Date(oldestMs) : null,
  };
}

function look(filter: PurchaseFilter, key: Key | null, max: number): Promise<Looked[]> {
  const { query, sort } = searchOf(filter, key);
  return purchases
    .find<Looked>(query, { ...held, projection: lookedFields })
    .sort(sort)
    .limit(max)
    .toArray();
}

/** What an index finds of it, in the order of the index. */
function searchOf(
  filter: PurchaseFilter,
  key: Key | null,
): { query: Filter<Purchase>; sort: Record<string, -1> } {
  return isOfOwner(filter)
    ? { query: ofOwner(filter, key), sort: { createdAt: -1, _id: -1 } }
    : { query: ofEverybody(filter, key), sort: { _id: -1 } };
}

function isOfOwner({ accountId, sellerId }: PurchaseFilter): boolean {
  return accountId !== undefined || sellerId !== undefined;
}

/** Whether the query alone finds what is wanted. */
function isExact(filter: PurchaseFilter): boolean {
  const { accountId, sellerId, status, since, until } = filter;
  return isOfOwner(filter)
    ? knowsIndex(filter) && (accountId === undefined || sellerId === undefined)
    : knowsIndex(filter) && [status, since, until].every((each) => each === undefined);
}

/** Nothing is asked that only the rows know, and no index. */
export function knowsIndex({ productCode, priceFrom, priceTo }: PurchaseFilter): boolean {
  return [productCode, priceFrom, priceTo].every((each) => each === undefined);
}

function ofOwner({ accountId, sellerId, status, since, until }: PurchaseFilter, key: Key | null) {
  const createdAt = {
    ...(since && { $gte: since }),
    ...((key ?? until) && { $lte: earlier(key?.createdAt, until) }),
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

function ofEverybody(filter: PurchaseFilter, key: Key | null): Filter<Purchase> {
  const _id = idsOfTime(key, filter);
  return Object.keys(_id).length > 0 ? { _id } : {};
}

function fits(each: Looked, filter: PurchaseFilter): boolean {
  return conditionsOf(filter).every(([field, operator, value]) => {
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

type Condition = [field: keyof Looked, operator: '$eq' | '$gte' | '$lte', value: string | number | Date];

/** What a purchase must be to fit: asked of rows here, and of MongoDB where it adds them up. */
function conditionsOf(filter: PurchaseFilter): Condition[] {
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

/** In the order of the keys. */
async function load(keys: Looked[]): Promise<Purchase[]> {
  if (keys.length === 0) {
    return [];
  }
  const found = await purchases
    .find(
      {
        _id: { $in: keys.map(({ _id }) => _id) },
        accountId: { $in: [...new Set(keys.map(({ accountId }) => accountId))] },
      },
      held,
    )
    .toArray();
  const byId = new Map(found.map((each) => [each._id, each]));
  return keys.flatMap(({ _id }) => byId.get(_id) ?? []);
}
