/** Lists by when something was made: ids (UUIDs of version 7 without dashes) rise with time, and a page begins after a key. */
import { ValidationError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { firstIdAt } from '../shared/ids.js';
import type { Collection, Filter } from 'mongodb';

export interface CreationKey {
  _id: string;
  createdAt: Date;
}

/** Ids of earlier releases, and of processes that had not measured the fleet's clock yet, go by their host's. */
const clockSkewMs = 60_000;

/** Ids among which all of a time are: whoever must not see others looks at `createdAt` as well. */
export function getIdRange(
  key: CreationKey | null,
  { since, until }: { since?: Date | undefined; until?: Date | undefined },
): { $gte?: string; $lt?: string } {
  const newest = key?._id ?? (until && firstIdAt(until.getTime() + clockSkewMs));
  return {
    ...(since && { $gte: firstIdAt(since.getTime() - clockSkewMs) }),
    ...(newest !== undefined && { $lt: newest }),
  };
}

export function getEarlier(one: Date | undefined, other: Date | undefined): Date | undefined {
  return one && other ? (one < other ? one : other) : (one ?? other);
}

export function formatCreationKey({ createdAt, _id }: CreationKey): string {
  return `${createdAt.getTime()}-${_id}`;
}

/** @throws ValidationError for an `after` that no page has given. */
export function parseCreationKey(after: string): CreationKey {
  const [, ms = '', _id = ''] = /^(\d{1,15})-([\w-]{1,120})$/.exec(after) ?? [];
  if (_id === '') {
    throw new ValidationError([{ field: 'after', message: asWritten('after must be the `next` of a page') }]);
  }
  return { _id, createdAt: new Date(Number(ms)) };
}

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
const readPerPageMax = 2_000;

/**
 * A page of small documents for the operator, newest first (decision 057): of an account along its index
 * {accountId, createdAt, _id}, of everybody along `_id`. It shows what a majority holds: people and clients act on it.
 * @throws ValidationError for an `after` that no page has given.
 */
export async function findDocumentPage<T extends CreationKey & { accountId: string }>(
  collection: Collection<T>,
  { accountId, since, until, also = {}, fits }: PageFilter<T>,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<PageOfDocuments<T>> {
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
  // Ids say only about when something was made.
  const isExact = !fits && (accountId !== undefined || (!since && !until));
  const readMax = isExact ? limit + 1 : readPerPageMax;
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
    lookedBackTo: isFull ? null : (end?.createdAt ?? null),
  };
}
