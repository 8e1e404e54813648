import { Long } from 'bson';
import { encode } from '../values/encode.js';
import type { Doc } from '../values/types.js';

/**
 * The BSON element headers of the first array positions, computed once. A header consists of the
 * type 3 (document), the position as text, and a zero byte.
 */
const POSITIONS = Array.from({ length: 1024 }, (_, i) => positionHead(i));
const FIELD_HEADS = {
  firstBatch: Buffer.from('\x04firstBatch\0', 'latin1'),
  nextBatch: Buffer.from('\x04nextBatch\0', 'latin1'),
};
const CURSOR_HEAD = Buffer.from('\x03cursor\0', 'latin1');

/** Builds a cursor reply from stored documents, without decoding or encoding them. */
export function cursorReply({
  batch,
  field,
  cursorId,
  namespace,
  extra,
}: {
  batch: readonly Uint8Array[];
  field: 'firstBatch' | 'nextBatch';
  cursorId: Long;
  namespace: string;
  /** Additional fields of the cursor object. */
  extra?: Doc | undefined;
}): Buffer {
  let arrayBytes = 5;
  for (let i = 0; i < batch.length; i++) {
    arrayBytes += encodeElementHead(i).length + (batch[i]?.length ?? 0);
  }
  const fieldHead = FIELD_HEADS[field];
  const cursorTail =
    extra === undefined && cursorId.isZero()
      ? closedTail(namespace)
      : encode({ id: cursorId, ns: namespace, ...extra }).subarray(4);
  const cursorBytes = 4 + fieldHead.length + arrayBytes + cursorTail.length;
  const tail = OK_TAIL;
  const total = 4 + CURSOR_HEAD.length + cursorBytes + tail.length;
  const reply = Buffer.allocUnsafe(total);
  let at = reply.writeInt32LE(total, 0);
  at += CURSOR_HEAD.copy(reply, at);
  at = reply.writeInt32LE(cursorBytes, at);
  at += fieldHead.copy(reply, at);
  at = reply.writeInt32LE(arrayBytes, at);
  for (let i = 0; i < batch.length; i++) {
    const document = batch[i];
    at += encodeElementHead(i).copy(reply, at);
    if (document !== undefined) {
      reply.set(document, at);
      at += document.length;
    }
  }
  at = reply.writeUInt8(0, at);
  at += cursorTail.copy(reply, at);
  tail.copy(reply, at);
  return reply;
}

const closedTails = new Map<string, Buffer>();
const CLOSED_TAILS_MAX = 1000;

/**
 * Returns the end of the cursor object of a complete result. It is cached, because most replies of
 * a collection have the same one.
 */
function closedTail(namespace: string): Buffer {
  let tail = closedTails.get(namespace);
  if (tail === undefined) {
    tail = encode({ id: Long.ZERO, ns: namespace }).subarray(4);
    if (closedTails.size < CLOSED_TAILS_MAX) {
      closedTails.set(namespace, tail);
    }
  }
  return tail;
}

/** The field `ok: 1.0` and the zero byte that ends the document. */
const OK_TAIL = Buffer.from('\x01ok\0\0\0\0\0\0\0\xf0\x3f\0', 'latin1');

function encodeElementHead(position: number): Buffer {
  return POSITIONS[position] ?? positionHead(position);
}

function positionHead(position: number): Buffer {
  return Buffer.from(`\x03${position}\0`, 'latin1');
}
