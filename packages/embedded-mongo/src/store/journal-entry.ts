import { decode } from '../values/decode.js';
import { encode } from '../values/encode.js';
import type { Doc } from '../values/types.js';
import type { SessionOutcome } from './transaction.js';

/**
 * Entries of the journal and of snapshots.
 *
 *   commit  1 u8 | count u32 | write* | outcome?
 *   write   kind u8: 1 put, 2 delete | collection u32 | BSON document, or `{_id}`
 *   outcome session id 16 bytes | txnNumber i64 | kind u8: 1 transaction, 2 statements | reply*
 *   reply   statement i32 | BSON reply
 *   catalog 2 u8 | BSON of a CatalogChange
 */
export type JournalEntry =
  | { kind: 'commit'; writes: JournalWrite[]; outcome: SessionOutcome | null }
  | { kind: 'catalog'; change: CatalogChange };

export interface JournalWrite {
  collectionId: number;
  /** The stored document. Null if the document was deleted. */
  put: Buffer | null;
  /** The `_id` of the deleted document. */
  deletedId: unknown;
}

export type CatalogChange =
  | { type: 'create'; id: number; namespace: string; uuid: string }
  | { type: 'drop'; id: number }
  | { type: 'rename'; id: number; namespace: string }
  | { type: 'index'; id: number; spec: Doc }
  | { type: 'dropIndex'; id: number; name: string };

const COMMIT = 1;
const CATALOG = 2;
const PUT = 1;
const DELETE = 2;
const OUTCOME_TRANSACTION = 1;
const OUTCOME_STATEMENTS = 2;

export function encodeCatalogChange(change: CatalogChange): Buffer {
  return Buffer.concat([Buffer.from([CATALOG]), encode({ ...change })]);
}

/** Encodes a commit. For a deleted document, `bytes` contains the encoded `{_id}`. */
export function encodeCommit(
  writes: readonly { collectionId: number; bytes: Buffer; isDelete: boolean }[],
  outcome: SessionOutcome | null,
): Buffer {
  const replies = outcome === null ? [] : encodedReplies(outcome);
  let size = 5 + (outcome === null ? 0 : 25);
  for (const { bytes } of writes) {
    size += 5 + bytes.length;
  }
  for (const { reply } of replies) {
    size += 4 + reply.length;
  }
  const entry = Buffer.allocUnsafe(size);
  let at = entry.writeUInt8(COMMIT, 0);
  at = entry.writeUInt32LE(writes.length, at);
  for (const { collectionId, bytes, isDelete } of writes) {
    at = entry.writeUInt8(isDelete ? DELETE : PUT, at);
    at = entry.writeUInt32LE(collectionId, at);
    at += bytes.copy(entry, at);
  }
  if (outcome !== null) {
    at += outcome.sessionId.copy(entry, at, 0, 16);
    at = entry.writeBigInt64LE(outcome.txnNumber, at);
    at = entry.writeUInt8(outcome.statements === null ? OUTCOME_TRANSACTION : OUTCOME_STATEMENTS, at);
  }
  for (const { statement, reply } of replies) {
    at = entry.writeInt32LE(statement, at);
    at += reply.copy(entry, at);
  }
  return entry;
}

function encodedReplies({ statements }: SessionOutcome): { statement: number; reply: Buffer }[] {
  return [...(statements ?? [])].map(([statement, reply]) => ({ statement, reply: encode(reply) }));
}

/** Decodes a journal entry. Its documents are views of `entry`, not copies. */
export function decodeEntry(entry: Buffer): JournalEntry {
  const kind = entry.readUInt8(0);
  if (kind === CATALOG) {
    return { kind: 'catalog', change: decode(entry.subarray(1)) as unknown as CatalogChange };
  }
  if (kind !== COMMIT) {
    throw new Error(`the journal has an entry of unknown kind ${kind}: it was written by a newer version`);
  }
  const count = entry.readUInt32LE(1);
  const writes: JournalWrite[] = [];
  let at = 5;
  for (let i = 0; i < count; i++) {
    const isPut = entry.readUInt8(at) === PUT;
    const collectionId = entry.readUInt32LE(at + 1);
    const size = entry.readInt32LE(at + 5);
    const bytes = entry.subarray(at + 5, at + 5 + size);
    writes.push(
      isPut
        ? { collectionId, put: bytes, deletedId: undefined }
        : { collectionId, put: null, deletedId: decode(bytes)['_id'] },
    );
    at += 5 + size;
  }
  return { kind: 'commit', writes, outcome: at < entry.length ? decodeOutcome(entry, at) : null };
}

function decodeOutcome(entry: Buffer, start: number): SessionOutcome {
  const sessionId = Buffer.from(entry.subarray(start, start + 16));
  const txnNumber = entry.readBigInt64LE(start + 16);
  if (entry.readUInt8(start + 24) === OUTCOME_TRANSACTION) {
    return { sessionId, txnNumber, statements: null };
  }
  const statements = new Map<number, Doc>();
  let at = start + 25;
  while (at < entry.length) {
    const size = entry.readInt32LE(at + 4);
    // Copy the reply. A binary field would otherwise keep the whole journal block in memory.
    statements.set(entry.readInt32LE(at), decode(Buffer.from(entry.subarray(at + 4, at + 4 + size))));
    at += 4 + size;
  }
  return { sessionId, txnNumber, statements };
}
