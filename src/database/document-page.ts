/**
 * Pages of documents by creation time. Ids are UUIDs of version 7 without dashes, so they rise with
 * time. A page begins after the key of the previous page's last row.
 */
import { ValidationError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { getFirstIdAt } from '../shared/ids.js';
import type { Collection, Filter } from 'mongodb';

export interface CreationKey {
  _id: string;
  createdAt: Date;
}

/**
 * Maximum clock error in ids, in milliseconds. A process uses the host's clock until it has
 * measured the shared clock of Redis.
 */
const clockSkewMs = 60_000;

/**
 * Returns an id range that contains all documents of a period. The range may contain other
 * documents, so exact callers also check `createdAt`.
 */
export function getIdRange(
  key: CreationKey | null,
  { since, until }: { since?: Date | undefined; until?: Date | undefined },
): { $gte?: string; $lt?: string } {
  const newest = key?._id ?? (until && getFirstIdAt(until.getTime() + clockSkewMs));
  return {
    ...(since && { $gte: getFirstIdAt(since.getTime() - clockSkewMs) }),
    ...(newest !== undefined && { $lt: newest }),
  };
}

export function getEarlier(one: Date | undefined, other: Date | undefined): Date | undefined {
  return one && other ? (one < other ? one : other) : (one ?? other);
}

export function formatCreationKey({ createdAt, _id }: CreationKey): string {
  return `${createdAt.getTime()}-${_id}`;
}

/** @throws ValidationError if `after` is not the `next` value of a page. */
export function parseCreationKey(after: string): CreationKey {
  const [, ms = '', _id = ''] = /^(\d{1,15})-([\w-]{1,120})$/.exec(after) ?? [];
  if (_id === '') {
    throw new ValidationError([{ field: 'after', message: asWritten('after must be the `next` of a page') }]);
  }
  return { _id, createdAt: new Date(Number(ms)) };
}

export interface PageFilter<T> {
  /** The account whose documents are listed. If absent, those of all accounts. */
  accountId?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  /** Further conditions that the account's index supports. Used only with an account. */
  also?: Filter<T> | undefined;
  /** Conditions that no index supports. */
  fits?: ((each: T) => boolean) | undefined;
}

export interface DocumentPage<T> {
  found: T[];
  /** The `after` value of the next page. Null on the last page. */
  next: string | null;
  /**
   * How far back this page searched. With a selective filter, a page can have fewer rows than its
   * limit.
   */
  searchedBackTo: Date | null;
}

/** Maximum number of documents that one page examines. */
const documentsReadMax = 2_000;

/**
 * Finds a page of small documents for operators, newest first (decision 057). For one account it
 * uses the index {accountId, createdAt, _id}, otherwise `_id`. It reads what a majority holds,
 * because people and clients act on the result.
 * @throws ValidationError if `after` is not the `next` value of a page.
 */
export async function findDocumentPage<T extends CreationKey & { accountId: string }>(
  collection: Collection<T>,
  { accountId, since, until, also = {}, fits }: PageFilter<T>,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<DocumentPage<T>> {
  const key = after === undefined ? null : parseCreationKey(after);
  const ids = getIdRange(key, { since, until });
  const createdAt = {
    ...(since && { $gte: since }),
    ...((key ?? until) && { $lte: getEarlier(key?.createdAt, until) }),
  };
  const ofAccount = {
    accountId,
    ...also,
    ...(Object.keys(createdAt).length > 0 && { createdAt }),
    ...(key && { $or: [{ createdAt: { $lt: key.createdAt } }, { _id: { $lt: key._id } }] }),
  };
  const ofEverybody = Object.keys(ids).length > 0 ? { _id: ids } : {};
  // Ids only approximate the creation time, so a period over all accounts reads more rows than the
  // page needs.
  const isExact = !fits && (accountId !== undefined || (!since && !until));
  const readMax = isExact ? limit + 1 : documentsReadMax;
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
    next: end ? formatCreationKey(end) : null,
    searchedBackTo: isFull ? null : (end?.createdAt ?? null),
  };
}
