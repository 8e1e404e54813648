import type { Collection, Filter } from 'mongodb';
import { earlier, idsOfTime, keyFrom, textOfKey, type CreationKey } from './creation-key.js';

export interface PageFilter<T> {
  /** Whose; left out: everybody's. */
  accountId?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  /** With an account: what an index of it knows beside. */
  also?: Filter<T> | undefined;
  /** What no index knows. */
  fits?: ((each: T) => boolean) | undefined;
}

export interface PageOfDocuments<T> {
  found: T[];
  /** Where the next page begins; null at the end. */
  next: string | null;
  /** How far back this page has looked. A filter that fits little ends a page before it is full. */
  lookedBackTo: Date | null;
}

/** So many are looked at for one page, however few of them fit. */
const lookedMax = 2_000;

/**
 * A page of small documents for the operator, newest first (decision 057): of an account along its index
 * {accountId, createdAt, _id}, of everybody along `_id`. It shows what a majority holds: people and clients act on it.
 * @throws ValidationError for an `after` that no page has given.
 */
export async function pageOfDocuments<T extends CreationKey & { accountId: string }>(
  collection: Collection<T>,
  { accountId, since, until, also = {}, fits }: PageFilter<T>,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<PageOfDocuments<T>> {
  const key = after === undefined ? null : keyFrom(after);
  const ids = idsOfTime(key, { since, until });
  const createdAt = {
    ...(since && { $gte: since }),
    ...((key ?? until) && { $lte: earlier(key?.createdAt, until) }),
  };
  const ofAccount = {
    accountId,
    ...also,
    ...(Object.keys(createdAt).length > 0 && { createdAt }),
    ...(key && { $or: [{ createdAt: { $lt: key.createdAt } }, { _id: { $lt: key._id } }] }),
  };
  const ofEverybody = Object.keys(ids).length > 0 ? { _id: ids } : {};
  // Ids say only about when something was made.
  const isExact = !fits && (accountId !== undefined || (!since && !until));
  const readMax = isExact ? limit + 1 : lookedMax;
  const looked = (await collection
    .find((accountId === undefined ? ofEverybody : ofAccount) as Filter<T>, { readConcern: 'majority' })
    .sort(accountId === undefined ? { _id: -1 } : { createdAt: -1, _id: -1 })
    .limit(readMax)
    .toArray()) as T[];
  const fitting = looked.filter(
    (each) =>
      (!since || each.createdAt >= since) && (!until || each.createdAt <= until) && (!fits || fits(each)),
  );
  const found = fitting.slice(0, limit);
  const isFull = fitting.length > limit;
  const end = isFull ? found.at(-1) : looked.length === readMax ? looked.at(-1) : undefined;
  return {
    found,
    next: end ? textOfKey(end) : null,
    lookedBackTo: isFull ? null : (end?.createdAt ?? null),
  };
}
