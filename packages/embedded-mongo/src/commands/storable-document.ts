import { ObjectId, Timestamp } from 'bson';
import { MongoError } from '../errors.js';
import { decode } from '../values/decode.js';
import { encode } from '../values/encode.js';
import { docOf, getField, hasField, keysOf } from '../values/fields.js';
import { BSON, isDoc, typeOf, type Doc } from '../values/types.js';

export const DOCUMENT_BYTES_MAX = 16 * 1024 * 1024;
const NESTING_MAX = 100;

/** A document and its BSON encoding. */
export interface StorableDocument {
  doc: Doc;
  bytes: Buffer;
}

/**
 * Prepares a received document for storage: checks it, puts `_id` first and fills empty timestamps.
 * A document that needs no change keeps its bytes.
 * @throws MongoError 10334 if it is too large, 15 if it is nested too deeply, 52 or 53 for an
 * invalid `_id`.
 */
export function storableDocument(sent: Doc | Buffer, now: Timestamp): StorableDocument {
  // Copy the bytes. A stored document would otherwise keep the whole received message in memory.
  const copy = Buffer.isBuffer(sent) ? Buffer.from(sent) : null;
  const doc = Buffer.isBuffer(sent) ? decode(copy ?? sent) : sent;
  const complete = fillDefaults(doc, now);
  checkId(complete['_id']);
  checkNesting(complete);
  const bytes = complete === doc && copy !== null ? copy : encode(complete);
  checkSize(bytes, 'object to insert too large');
  return { doc: complete, bytes };
}

/**
 * Encodes an updated document.
 * @throws MongoError 10334 if it is too large, 15 if it is nested too deeply.
 */
export function encodeUpdated(doc: Doc): Buffer {
  checkNesting(doc);
  const bytes = encode(doc);
  checkSize(bytes, 'Resulting document after update is larger than 16777216');
  return bytes;
}

export function checkId(id: unknown): void {
  const type = typeOf(id);
  if (type === BSON.array || type === BSON.regex || type === BSON.undefined) {
    const name = type === BSON.array ? 'array' : type === BSON.regex ? 'regex' : 'undefined';
    throw new MongoError(53, `The '_id' value cannot be of type ${name}`);
  }
  const operator = isDoc(id) ? keysOf(id).find((key) => key.startsWith('$')) : undefined;
  if (operator !== undefined) {
    throw new MongoError(
      52,
      `_id fields may not contain '$'-prefixed fields: ${operator} is not valid for storage.`,
    );
  }
}

/**
 * Adds a missing `_id` and fills empty timestamps. Returns the same object if neither is necessary.
 */
export function fillDefaults(doc: Doc, now: Timestamp): Doc {
  const keys = keysOf(doc);
  if (keys[0] === '_id' && !keys.some((key) => key !== '_id' && isEmptyTimestamp(doc[key]))) {
    return doc;
  }
  const id = hasField(doc, '_id') ? getField(doc, '_id') : new ObjectId();
  return docOf([
    ['_id', id],
    ...keys
      .filter((key) => key !== '_id')
      .map((key): [string, unknown] => [key, isEmptyTimestamp(doc[key]) ? now : getField(doc, key)]),
  ]);
}

function isEmptyTimestamp(value: unknown): boolean {
  return typeof value === 'object' && value instanceof Timestamp && value.t === 0 && value.i === 0;
}

function checkSize(bytes: Buffer, message: string): void {
  if (bytes.length > DOCUMENT_BYTES_MAX) {
    throw new MongoError(
      10334,
      `${message}. size in bytes: ${bytes.length}, max size: ${DOCUMENT_BYTES_MAX}`,
    );
  }
}

function checkNesting(doc: Doc): void {
  if (isDeeper(doc, NESTING_MAX)) {
    throw new MongoError(15, `cannot store a document nested more than ${NESTING_MAX} levels deep`);
  }
}

function isDeeper(value: Doc | readonly unknown[], levels: number): boolean {
  if (levels === 0) {
    return true;
  }
  for (const inner of Array.isArray(value) ? (value as readonly unknown[]) : Object.values(value)) {
    if (
      typeof inner === 'object' &&
      inner !== null &&
      (Array.isArray(inner) || isDoc(inner)) &&
      isDeeper(inner, levels - 1)
    ) {
      return true;
    }
  }
  return false;
}
