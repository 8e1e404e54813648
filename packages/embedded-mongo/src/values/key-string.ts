import {
  Decimal128,
  Long,
  type Binary,
  type BSONRegExp,
  type BSONSymbol,
  type Code,
  type ObjectId,
  type Timestamp,
} from 'bson';
import { binaryBytes, getTypeRank, subTypeOf } from './compare.js';
import {
  compareDecimals,
  decimalOfDouble,
  doubleOfDecimal,
  finite,
  unpackDecimal,
  type Decimal,
} from './decimal.js';
import { keysOf } from './fields.js';
import { BSON, typeOf, type BsonType, type Doc, type Numeric } from './types.js';

/**
 * Returns a string of latin1 characters that sorts like the value. `keyString(a) < keyString(b)` if
 * and only if a sorts before b in the total order. Equal values such as 1, 1.0 and Decimal128 1.00
 * have the same key. No key is a prefix of another key, so a compound key is the concatenation of
 * its parts.
 */
export function keyString(value: unknown): string {
  const type = typeOf(value);
  return (TYPE_CHARS[type + 1] ?? '') + contentKey(value, type);
}

/** Returns the key of a descending field. */
export function invertKey(key: string): string {
  const bytes = Buffer.from(key, 'latin1');
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = 255 - (bytes[i] ?? 0);
  }
  return bytes.toString('latin1');
}

/**
 * Returns the first character of the keys of all values with the same type rank. It limits a range
 * to one type rank.
 */
export function typePrefix(value: unknown): string {
  return TYPE_CHARS[typeOf(value) + 1] ?? '';
}

const TYPE_CHARS = Array.from({ length: 129 }, (_, i) =>
  String.fromCharCode(getTypeRank((i - 1) as BsonType) * 4),
);

function contentKey(value: unknown, type: BsonType): string {
  switch (type) {
    case BSON.minKey:
    case BSON.maxKey:
    case BSON.undefined:
    case BSON.null:
      return '';
    case BSON.int:
    case BSON.double:
    case BSON.long:
    case BSON.decimal:
      return numberKey(value as Numeric);
    case BSON.string:
      return textKey(value as string);
    case BSON.symbol:
      return textKey((value as BSONSymbol).value);
    case BSON.object:
      return docKey(value as Doc);
    case BSON.array:
      return `${(value as unknown[]).map(keyString).join('')}\0`;
    case BSON.binData:
      return binaryKey(value as Binary | Uint8Array);
    case BSON.objectId:
      return latin1((value as ObjectId).id);
    case BSON.bool:
      return value === true ? '\x01' : '\0';
    case BSON.date: {
      const millis = Long.fromNumber((value as Date).getTime());
      return wordKey(millis.high ^ 0x80000000) + wordKey(millis.low);
    }
    case BSON.timestamp:
      return wordKey((value as Timestamp).t) + wordKey((value as Timestamp).i);
    case BSON.regex:
      return textKey((value as BSONRegExp).pattern) + textKey((value as BSONRegExp).options);
    case BSON.javascript:
      return textKey((value as Code).code);
    case BSON.javascriptWithScope:
      return textKey((value as Code).code) + docKey((value as Code).scope ?? {});
  }
}

/**
 * Encodes a document in the order in which documents are compared: for each field the type, then
 * the name, then the value.
 */
function docKey(doc: Doc): string {
  let key = '';
  for (const name of keysOf(doc)) {
    const type = typeOf(doc[name]);
    key += (TYPE_CHARS[type + 1] ?? '') + textKey(name) + contentKey(doc[name], type);
  }
  return `${key}\0`;
}

function binaryKey(value: Binary | Uint8Array): string {
  const bytes = binaryBytes(value);
  return wordKey(bytes.length) + String.fromCharCode(subTypeOf(value)) + latin1(bytes);
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

function wordKey(word: number): string {
  return String.fromCharCode(word >>> 24, (word >>> 16) & 255, (word >>> 8) & 255, word & 255);
}

/**
 * Encodes text as UTF-8. Zero bytes are escaped, and two zero bytes end the text. A prefix of a
 * text therefore sorts before the text.
 */
function textKey(text: string): string {
  let bytes = text;
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > 127) {
      bytes = Buffer.from(text, 'utf8').toString('latin1');
      break;
    }
  }
  return `${bytes.includes('\0') ? bytes.replaceAll('\0', '\0\xff') : bytes}\0\0`;
}

const bits = new DataView(new ArrayBuffer(8));
const EXACT = '\0';
const INEXACT = '\x01';

/**
 * Encodes a number. The first eight bytes are the magnitude, truncated to a double. The next byte
 * indicates whether the double is exact. For an inexact value, such as a large int64 or the decimal
 * 0.1, the normalized decimal digits follow. For a negative number, all bytes are inverted.
 */
function numberKey(value: Numeric): string {
  if (value instanceof Decimal128) {
    return decimalKey(unpackDecimal(value));
  }
  if (value instanceof Long) {
    const double = value.toNumber();
    return Number.isSafeInteger(double) ? doubleKey(double) : decimalKey(finite(value.toBigInt(), 0));
  }
  return doubleKey(typeof value === 'number' ? value : value.value);
}

function doubleKey(double: number): string {
  if (Number.isNaN(double)) {
    return '\0\0\0\0\0\0\0\0\0';
  }
  // Adding 0 gives -0 and 0 the same key.
  bits.setFloat64(0, double + 0);
  const high = bits.getInt32(0);
  const low = bits.getInt32(4);
  return high < 0
    ? `${wordKey(~high)}${wordKey(~low)}\xff`
    : `${wordKey(high ^ 0x80000000)}${wordKey(low)}${EXACT}`;
}

function decimalKey(value: Decimal): string {
  const double = doubleOfDecimal(value);
  if (value.kind !== 'finite' || value.coefficient === 0n) {
    return doubleKey(double);
  }
  if (value.negative) {
    return invertKey(decimalKey({ ...value, negative: false }));
  }
  const nearest = Math.min(double, Number.MAX_VALUE);
  const order = compareDecimals(value, decimalOfDouble(nearest));
  if (order === 0) {
    return doubleKey(nearest);
  }
  const cut = order < 0 ? doubleBelow(nearest) : nearest;
  const digits = value.coefficient.toString();
  const scale = digits.length + value.exponent + 8192;
  return (
    doubleKey(cut).slice(0, 8) +
    INEXACT +
    String.fromCharCode(scale >>> 8, scale & 255) +
    digits.replace(/0+$/, '') +
    '\0'
  );
}

/** Returns the largest double that is smaller than a positive double. */
function doubleBelow(double: number): number {
  bits.setFloat64(0, double);
  bits.setBigInt64(0, bits.getBigInt64(0) - 1n);
  return bits.getFloat64(0);
}
