import {
  bsonType,
  type Binary,
  type BSONRegExp,
  type BSONSymbol,
  type Code,
  type Decimal128,
  type Double,
  type Int32,
  type Long,
  type ObjectId,
  type Timestamp,
} from 'bson';
import { keysOf } from './fields.js';
import { BSON, typeOf, type BsonType, type Doc } from './types.js';

/**
 * Encodes a document. This is the exact inverse of `decode`. A field with the value `undefined` is
 * encoded as BSON undefined.
 */
export function encode(doc: Doc): Buffer {
  const end = writeDocument(doc, 0);
  const bytes = Buffer.from(scratch.subarray(0, end));
  if (scratch.length > SCRATCH_KEPT) {
    grow(SCRATCH_KEPT);
  }
  return bytes;
}

const SCRATCH_KEPT = 1 << 20;
/** A buffer that all calls share. This is safe because encoding is synchronous. */
let scratch = Buffer.allocUnsafeSlow(1 << 16);
let view = new DataView(scratch.buffer);

function grow(size: number): void {
  const larger = Buffer.allocUnsafeSlow(size);
  scratch.copy(larger, 0, 0, Math.min(size, scratch.length));
  scratch = larger;
  view = new DataView(larger.buffer);
}

function reserve(end: number): void {
  if (end > scratch.length) {
    grow(Math.max(end, scratch.length * 2));
  }
}

function writeDocument(doc: Doc, start: number): number {
  let pos = start + 4;
  reserve(pos + 1);
  for (const key of keysOf(doc)) {
    pos = writeElement(key, doc[key], pos);
  }
  return close(start, pos);
}

function writeArray(array: readonly unknown[], start: number): number {
  let pos = start + 4;
  reserve(pos + 1);
  for (let i = 0; i < array.length; i++) {
    pos = writeElement(String(i), array[i], pos);
  }
  return close(start, pos);
}

function close(start: number, end: number): number {
  reserve(end + 1);
  scratch[end] = 0;
  view.setInt32(start, end + 1 - start, true);
  return end + 1;
}

function writeElement(key: string, value: unknown, start: number): number {
  const type = typeOf(value);
  const keyEnd = writeCstring(key, start + 1);
  reserve(keyEnd + 16);
  scratch[start] = type & 0xff;
  return writeValue(type, value, keyEnd);
}

function writeCstring(text: string, start: number): number {
  const length = text.length;
  reserve(start + length * 3 + 1);
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code > 127) {
      const end = start + scratch.write(text, start, 'utf8');
      scratch[end] = 0;
      return end + 1;
    }
    scratch[start + i] = code;
  }
  scratch[start + length] = 0;
  return start + length + 1;
}

function writeString(text: string, start: number): number {
  const end = writeCstring(text, start + 4);
  view.setInt32(start, end - start - 4, true);
  return end;
}

function writeValue(type: BsonType, value: unknown, pos: number): number {
  switch (type) {
    case BSON.double:
      view.setFloat64(pos, typeof value === 'number' ? value : (value as Double).value, true);
      return pos + 8;
    case BSON.string:
      return writeString(value as string, pos);
    case BSON.object:
      return writeDocument(value as Doc, pos);
    case BSON.array:
      return writeArray(value as unknown[], pos);
    case BSON.binData:
      return writeBinary(value as Binary | Uint8Array, pos);
    case BSON.undefined:
    case BSON.null:
    case BSON.minKey:
    case BSON.maxKey:
      return pos;
    case BSON.objectId:
      scratch.set((value as ObjectId).id, pos);
      return pos + 12;
    case BSON.bool:
      scratch[pos] = value === true ? 1 : 0;
      return pos + 1;
    case BSON.date:
      return writeDate(value as Date, pos);
    case BSON.int:
      view.setInt32(pos, typeof value === 'number' ? value : (value as Int32).value, true);
      return pos + 4;
    case BSON.long:
      return writeLong(value as Long | bigint, pos);
    case BSON.timestamp:
      return writeBits((value as Timestamp).i, (value as Timestamp).t, pos);
    case BSON.decimal:
      scratch.set((value as Decimal128).bytes, pos);
      return pos + 16;
    case BSON.regex:
    case BSON.javascript:
    case BSON.symbol:
    case BSON.javascriptWithScope:
      return writeRareValue(type, value, pos);
  }
}

type RareType = (typeof BSON)['regex' | 'javascript' | 'symbol' | 'javascriptWithScope'];

function writeRareValue(type: RareType, value: unknown, start: number): number {
  switch (type) {
    case BSON.regex:
      return writeCstring((value as BSONRegExp).options, writeCstring((value as BSONRegExp).pattern, start));
    case BSON.javascript:
      return writeString((value as Code).code, start);
    case BSON.symbol:
      return writeString((value as BSONSymbol).value, start);
    case BSON.javascriptWithScope: {
      const code = value as Code;
      const end = writeDocument(code.scope ?? {}, writeString(code.code, start + 4));
      view.setInt32(start, end - start, true);
      return end;
    }
  }
}

function writeBinary(value: Binary | Uint8Array, start: number): number {
  const isBinary = bsonType in value;
  const bytes = isBinary ? value.buffer.subarray(0, value.position) : value;
  const subType = isBinary ? value.sub_type : 0;
  const isOld = subType === 2;
  const length = bytes.length + (isOld ? 4 : 0);
  let pos = start + 5;
  reserve(pos + length);
  view.setInt32(start, length, true);
  scratch[start + 4] = subType;
  if (isOld) {
    view.setInt32(pos, bytes.length, true);
    pos += 4;
  }
  scratch.set(bytes, pos);
  return pos + bytes.length;
}

function writeDate(date: Date, pos: number): number {
  const millis = date.getTime();
  const high = Math.floor(millis / 4294967296);
  return writeBits(millis - high * 4294967296, high, pos);
}

function writeLong(value: Long | bigint, pos: number): number {
  if (typeof value === 'bigint') {
    view.setBigInt64(pos, value, true);
    return pos + 8;
  }
  return writeBits(value.low, value.high, pos);
}

function writeBits(low: number, high: number, pos: number): number {
  view.setInt32(pos, low, true);
  view.setInt32(pos + 4, high, true);
  return pos + 8;
}
