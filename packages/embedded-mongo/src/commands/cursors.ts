import { randomBytes } from 'node:crypto';
import { Long } from 'bson';
import { MongoError } from '../errors.js';
import { isNumeric, type Doc } from '../values/types.js';
import type { CommandContext, CommandResult, Cursor, Cursors } from './context.js';
import { cursorReply } from './cursor-reply.js';
import { numberField } from './fields.js';

export interface CursorOptions {
  namespace: string;
  documents: Iterable<Uint8Array | null>;
  /** For documents that are read lazily. Returns true while their collection and indexes exist. */
  isAlive?: (() => boolean) | null;
  /** Maximum number of documents. Zero means no limit. */
  limit?: number;
  /** Maximum number of documents in the first batch. */
  batchSize?: number | undefined;
  /** True if the cursor is closed after the first batch. */
  singleBatch?: boolean;
  neverTimesOut?: boolean;
  extra?: Doc | undefined;
}

const FIRST_BATCH = 101;
/** Less than the maximum message size, which leaves room for the rest of the reply. */
const BATCH_BYTES_MAX = 16 * 1024 * 1024;

/** Opens a cursor and returns the first batch. `getMore` returns the remaining documents. */
export async function openCursor(context: CommandContext, options: CursorOptions): Promise<Buffer> {
  const {
    namespace,
    documents,
    isAlive = null,
    limit = 0,
    batchSize = FIRST_BATCH,
    singleBatch = false,
    neverTimesOut = false,
    extra,
  } = options;
  const cursor: Cursor = {
    namespace,
    documents: documents[Symbol.iterator](),
    isAlive,
    left: limit === 0 ? Infinity : limit,
    held: null,
    transaction: context.transaction,
    neverTimesOut,
    usedAtMs: Date.now(),
  };
  const { batch, isDone } = await nextBatch(cursor, batchSize);
  let cursorId = Long.ZERO;
  if (!isDone && !singleBatch) {
    cursorId = newCursorId(context.server.cursors);
    context.server.cursors.set(cursorId.toBigInt(), cursor);
  }
  return cursorReply({ batch, field: 'firstBatch', cursorId, namespace, extra });
}

/**
 * Returns the `batchSize` of a command or of its `cursor` field. Undefined means the default size.
 */
export function batchSizeOf(options: Doc | undefined): number | undefined {
  return options?.['batchSize'] === undefined ? undefined : numberField(options, 'batchSize', 0);
}

export async function getMore(context: CommandContext): Promise<CommandResult> {
  const { command, server, transaction } = context;
  const id = cursorIdOf(command['getMore']);
  const cursor = server.cursors.get(id.toBigInt());
  if (cursor === undefined || cursor.transaction?.hasEnded === true) {
    server.cursors.delete(id.toBigInt());
    throw new MongoError(43, `cursor id ${id.toString()} not found`);
  }
  if (cursor.namespace !== `${context.database}.${String(command['collection'])}`) {
    throw new MongoError(
      13,
      `Requested getMore on namespace '${context.database}.${String(command['collection'])}', but cursor belongs to a different namespace ${cursor.namespace}`,
    );
  }
  if (cursor.transaction !== transaction) {
    throw new MongoError(
      50740,
      `Cannot run getMore on cursor ${id.toString()}, which was not created in this transaction`,
    );
  }
  cursor.usedAtMs = Date.now();
  const batchSize = numberField(command, 'batchSize', 0);
  // The cursor is removed while a batch is read. Another command cannot use it at the same time,
  // and it cannot time out.
  server.cursors.delete(id.toBigInt());
  const { batch, isDone } = await nextBatch(cursor, batchSize === 0 ? Infinity : batchSize);
  if (!isDone) {
    server.cursors.set(id.toBigInt(), cursor);
  }
  return cursorReply({
    batch,
    field: 'nextBatch',
    cursorId: isDone ? Long.ZERO : id,
    namespace: cursor.namespace,
  });
}

export function killCursors({ command, server }: CommandContext): CommandResult {
  const ids = (Array.isArray(command['cursors']) ? command['cursors'] : []).map(cursorIdOf);
  const cursorsKilled = ids.filter((id) => server.cursors.delete(id.toBigInt()));
  return {
    cursorsKilled,
    cursorsNotFound: ids.filter((id) => !cursorsKilled.includes(id)),
    cursorsAlive: [],
    cursorsUnknown: [],
  };
}

/** Closes idle cursors, and cursors whose transaction has ended. */
export function dropIdleCursors(cursors: Cursors, timeoutMs: number, nowMs: number): void {
  for (const [id, { transaction, neverTimesOut, usedAtMs }] of cursors) {
    if (transaction?.hasEnded === true || (!neverTimesOut && nowMs - usedAtMs > timeoutMs)) {
      cursors.delete(id);
    }
  }
}

async function nextBatch(cursor: Cursor, sizeMax: number): Promise<{ batch: Uint8Array[]; isDone: boolean }> {
  refuseDead(cursor);
  const batch: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    // Do not read lazy documents beyond the batch, because they may change before the next
    // `getMore`.
    if (cursor.isAlive !== null && cursor.held === null && batch.length >= sizeMax) {
      return { batch, isDone: cursor.left === 0 };
    }
    const document = takeDocument(cursor);
    if (document === undefined) {
      return { batch, isDone: true };
    }
    if (document === null) {
      await yieldToEventLoop();
      refuseDead(cursor);
      continue;
    }
    const isFull = batch.length >= sizeMax || (batch.length > 0 && bytes + document.length > BATCH_BYTES_MAX);
    if (isFull) {
      cursor.held = document;
      return { batch, isDone: false };
    }
    batch.push(document);
    cursor.left -= 1;
    bytes += document.length;
  }
}

/**
 * Returns the next document, null if other commands may run now, or undefined at the end of the
 * result.
 */
function takeDocument(cursor: Cursor): Uint8Array | null | undefined {
  if (cursor.held !== null) {
    const { held } = cursor;
    cursor.held = null;
    return held;
  }
  const step = cursor.documents.next();
  return step.done === true ? undefined : step.value;
}

/** Throws if the cursor reads a collection or an index that was dropped. */
function refuseDead({ isAlive }: Cursor): void {
  if (isAlive?.() === false) {
    throw new MongoError(175, 'cursor killed: the collection or an index that it reads was dropped');
  }
}

/** Resolves in the next iteration of the event loop, so that waiting commands can run. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function cursorIdOf(value: unknown): Long {
  if (value instanceof Long) {
    return value;
  }
  if (!isNumeric(value)) {
    throw new MongoError(14, "a cursor id must be of type 'long'");
  }
  return Long.fromNumber(Number(value));
}

function newCursorId(cursors: Cursors): Long {
  for (;;) {
    // The id has at most 53 bits, so that clients can represent it as a JS number.
    const id = BigInt(randomBytes(6).readUIntBE(0, 6) + 1);
    if (!cursors.has(id)) {
      return Long.fromBigInt(id);
    }
  }
}
