/**
 * Raw commands in the database transaction of a posting. All documents of a collection are written
 * in one round trip.
 */
import { MongoServerError, type ClientSession, type Document, type Filter } from 'mongodb';
import { getPostingDb } from '../../database/mongo.js';
import type { AnyDocument } from '../../database/typed-collection.js';

/**
 * A statement matched fewer documents than expected, or violated a unique key. The group must not
 * be committed.
 */
export class MismatchError extends Error {}

const duplicateKey = 11_000;

export async function findAll(
  session: ClientSession,
  collection: string,
  filter: Filter<AnyDocument>,
  { projection, limit = 0 }: { projection?: Document; limit?: number } = {},
): Promise<Document[]> {
  return getPostingDb()
    .collection<AnyDocument>(collection)
    .find(filter, { session, batchSize: 10_000, limit, ...(projection && { projection }) })
    .toArray();
}

export interface UpdateStatement {
  q: Filter<AnyDocument>;
  u: Document;
  multi?: boolean;
  upsert?: boolean;
}

/**
 * Runs update statements.
 * @throws MismatchError if these statements together do not match exactly `expected` documents.
 */
export async function updateAll(
  session: ClientSession,
  collection: string,
  updates: UpdateStatement[],
  expected: number,
): Promise<void> {
  const reply = await runCommand(session, { update: collection, updates });
  if (reply['n'] !== expected) {
    throw new MismatchError(`${collection}: ${String(reply['n'])} of ${expected} matched`);
  }
}

/**
 * Inserts documents.
 * @throws MismatchError if a document violates a unique key.
 */
export async function insertAll(
  session: ClientSession,
  collection: string,
  documents: Document[],
): Promise<void> {
  await runCommand(session, { insert: collection, documents });
}

/** Runs a write command. MongoDB reports a violation of a unique index in a reply with `ok: 1`. */
async function runCommand(session: ClientSession, command: Document): Promise<Document> {
  const reply = await getPostingDb().command(command, { session });
  const [first] = (reply['writeErrors'] ?? []) as { code: number; errmsg: string }[];
  if (first?.code === duplicateKey) {
    throw new MismatchError(first.errmsg);
  }
  if (first) {
    throw new MongoServerError({ ...first, message: first.errmsg });
  }
  return reply;
}
