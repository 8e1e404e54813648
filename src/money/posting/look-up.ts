/** Queries that check a group's postings within its database transaction, at its snapshot. */
import type { ClientSession, Filter } from 'mongodb';
import type { AnyDocument } from '../../database/typed-collection.js';
import { isShardedByAccount } from '../../database/sharding.js';
import { groupBy } from '../../shared/collections.js';
import { findAll } from './commands.js';
import type { QueuedPosting } from './item.js';
import type { Bar, Change, Posting, PostingResult } from './posting.js';

/** Finds postings that cannot be written: duplicates, and postings with failed expectations. */
export async function findUnwritable(
  session: ClientSession,
  items: QueuedPosting[],
): Promise<Map<QueuedPosting, PostingResult>> {
  const found = await findBarred(session, items);
  await findStale(session, items, found);
  // Check duplicates last, because they override stale results. The first call of a duplicate has
  // usually changed the documents that the repeat expects.
  await findJournals(session, items, found);
  await findKeyed(session, items, found);
  return found;
}

/**
 * Finds postings that an existing document bars. There is one query per posting, because few
 * postings have a bar.
 */
export async function findBarred(
  session: ClientSession,
  items: QueuedPosting[],
): Promise<Map<QueuedPosting, PostingResult>> {
  const found = new Map<QueuedPosting, PostingResult>();
  for (const item of items) {
    const { barredBy } = item.posting;
    if (barredBy && (await exists(session, barredBy))) {
      found.set(item, { outcome: 'stale' });
    }
  }
  return found;
}

async function exists(session: ClientSession, { collection, filter }: Bar): Promise<boolean> {
  return (await findAll(session, collection, filter, { projection: { _id: 1 }, limit: 1 })).length > 0;
}

/**
 * Returns the postings that are in the database. Each is identified by a document that only its
 * call can have written.
 */
export async function findOwnPostings(
  session: ClientSession,
  items: QueuedPosting[],
): Promise<Set<QueuedPosting>> {
  const found = new Set<QueuedPosting>();
  const withJournal = items.filter(({ posting }) => posting.lines);
  if (withJournal.length > 0) {
    const ids = await findIds(session, 'journals', {
      accountId: { $in: getAccountIds(withJournal) },
      _id: { $in: withJournal.map((each) => each.journalId) },
    });
    withJournal.filter((each) => ids.has(each.journalId)).forEach((each) => found.add(each));
  }
  for (const item of items.filter(({ posting }) => !posting.lines)) {
    const { collection, filter } = getPostingProof(item);
    if ((await findIds(session, collection, filter)).size > 0) {
      found.add(item);
    }
  }
  return found;
}

async function findJournals(
  session: ClientSession,
  items: QueuedPosting[],
  found: Map<QueuedPosting, PostingResult>,
) {
  const moving = items.filter(({ posting }) => posting.lines);
  if (moving.length === 0) {
    return;
  }
  const $or = moving.map(({ posting: { accountId, subjectId, kind } }) => ({ accountId, subjectId, kind }));
  const rows = await findAll(session, 'journals', { $or }, { projection: { subjectId: 1, kind: 1 } });
  const stands = new Set(rows.map((row) => `${String(row['subjectId'])}|${String(row['kind'])}`));
  moving
    .filter(({ posting }) => stands.has(`${posting.subjectId}|${posting.kind}`))
    .forEach((item) => found.set(item, { outcome: 'duplicate', stands: null }));
}

async function findKeyed(
  session: ClientSession,
  items: QueuedPosting[],
  found: Map<QueuedPosting, PostingResult>,
) {
  const keyed = items.flatMap((item) =>
    (item.posting.inserts ?? []).flatMap(({ collection, key }) => (key ? [{ item, collection, key }] : [])),
  );
  for (const [collection, group] of groupBy(keyed, (each) => each.collection)) {
    const rows = await findAll(session, collection, { $or: group.map(({ key }) => key) });
    for (const { item, key } of group) {
      const stands = rows.find((row) => Object.entries(key).every(([field, value]) => row[field] === value));
      if (stands) {
        found.set(item, { outcome: 'duplicate', stands });
      }
    }
  }
}

async function findStale(
  session: ClientSession,
  items: QueuedPosting[],
  found: Map<QueuedPosting, PostingResult>,
) {
  const changes = items.flatMap((item) =>
    (item.posting.changes ?? []).map((change) => ({ item, change, collection: change.collection })),
  );
  for (const [collection, group] of groupBy(changes, (each) => each.collection)) {
    const ids = await findIds(session, collection, {
      $or: group.map(({ item, change }) => buildChangeFilter(item.posting, change)),
    });
    for (const { item, change } of group) {
      const all = typeof change.id === 'string' ? [change.id] : change.id;
      if (!all.every((id) => ids.has(id))) {
        found.set(item, { outcome: 'stale' });
      }
    }
  }
}

/**
 * Builds a filter that matches the documents of a change only in their expected state. For a
 * sharded collection the filter includes the account.
 */
export function buildChangeFilter(posting: Pick<Posting, 'accountId'>, change: Change): Filter<AnyDocument> {
  const { collection, id, expect, accountId = posting.accountId } = change;
  const filter = {
    ...expect,
    ...(isShardedByAccount(collection) && { accountId: isList(accountId) ? { $in: accountId } : accountId }),
    _id: typeof id === 'string' ? id : { $in: id },
  };
  return filter;
}

function isList<T>(value: T | T[]): value is T[] {
  return Array.isArray(value);
}

function getPostingProof({ posting }: QueuedPosting) {
  const { proof, inserts, changes, kind, accountId } = posting;
  const [insert] = inserts ?? [];
  const [change] = changes ?? [];
  if (proof) {
    return {
      collection: proof.collection,
      filter: { ...getOwnerFilter(proof.collection, accountId), ...proof.filter },
    };
  }
  if (insert && 'document' in insert) {
    const { collection, document } = insert;
    const owner = String(document['accountId'] ?? accountId);
    return { collection, filter: { ...getOwnerFilter(collection, owner), _id: document['_id'] as string } };
  }
  if (change && 'set' in change) {
    return {
      collection: change.collection,
      filter: buildChangeFilter(posting, { ...change, expect: change.set }),
    };
  }
  throw new Error(`Posting ${kind} writes nothing that proves whether it was committed`);
}

function getOwnerFilter(collection: string, accountId: string): { accountId?: string } {
  return isShardedByAccount(collection) ? { accountId } : {};
}

function getAccountIds(items: QueuedPosting[]): string[] {
  return [...new Set(items.map(({ posting }) => posting.accountId))];
}

async function findIds(session: ClientSession, collection: string, filter: Filter<AnyDocument>) {
  const rows = await findAll(session, collection, filter, { projection: { _id: 1 } });
  return new Set(rows.map((row) => String(row['_id'])));
}
