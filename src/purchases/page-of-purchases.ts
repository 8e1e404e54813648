import type { Filter } from 'mongodb';
import { earlier, idsOfTime, keyFrom, textOfKey } from '../database/creation-key.js';
import { firstIdAt } from '../shared/ids.js';
import { purchases, type Purchase, type PurchaseStatus } from './purchase.model.js';

export interface PurchaseFilter {
  /** The buyer's. */
  accountId?: string | undefined;
  sellerId?: string | undefined;
  status?: PurchaseStatus | undefined;
  productCode?: string | undefined;
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
type Looked = Key & Pick<Purchase, 'accountId' | 'sellerId' | 'status' | 'productCode'>;

/** So many purchases are looked at for one page, however few of them fit. */
const lookedMax = 2_000;

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
  const byOwner = filter.accountId !== undefined || filter.sellerId !== undefined;
  const key = after === undefined ? null : keyFrom(after);
  const looked = await purchases
    .find<Looked>(byOwner ? ofOwner(filter, key) : ofEverybody(filter, key), {
      projection: { accountId: 1, sellerId: 1, status: 1, productCode: 1, createdAt: 1 },
    })
    .sort(byOwner ? { createdAt: -1, _id: -1 } : { _id: -1 })
    .limit(isExact(filter, byOwner) ? limit + 1 : lookedMax)
    .toArray();
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

/** Whether the query alone finds what is wanted. */
function isExact(
  { accountId, sellerId, status, productCode, since, until }: PurchaseFilter,
  byOwner: boolean,
) {
  return byOwner
    ? productCode === undefined && (accountId === undefined || sellerId === undefined)
    : [status, productCode, since, until].every((each) => each === undefined);
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

function fits(each: Looked, { accountId, sellerId, status, productCode, since, until }: PurchaseFilter) {
  return (
    (accountId === undefined || each.accountId === accountId) &&
    (sellerId === undefined || each.sellerId === sellerId) &&
    (status === undefined || each.status === status) &&
    (productCode === undefined || each.productCode === productCode) &&
    (since === undefined || each.createdAt >= since) &&
    (until === undefined || each.createdAt <= until)
  );
}

/** In the order of the keys. */
async function load(keys: Looked[]): Promise<Purchase[]> {
  if (keys.length === 0) {
    return [];
  }
  const found = await purchases
    .find({
      _id: { $in: keys.map(({ _id }) => _id) },
      accountId: { $in: [...new Set(keys.map(({ accountId }) => accountId))] },
    })
    .toArray();
  const byId = new Map(found.map((each) => [each._id, each]));
  return keys.flatMap(({ _id }) => byId.get(_id) ?? []);
}

/** Ids that were made between two instants, by the clocks of the processes that made them. */
export function idsBetween(fromMs: number, toMs: number): { $gte: string; $lt: string } {
  return { $gte: firstIdAt(fromMs), $lt: firstIdAt(toMs) };
}
