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
import { compareDecimals, type Decimal } from './decimal.js';
import { keysOf } from './fields.js';
import { toDouble, toExactDecimal } from './numbers.js';
import { BSON, typeOf, type BsonType, type Doc, type Numeric } from './types.js';

/**
 * Compares two values in MongoDB's total order. Returns a negative number, 0 or a positive number.
 * Numbers of different types are compared by their exact values. `undefined` also represents a
 * missing field and sorts before null.
 */
export function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') {
    return a < b ? -1 : a > b ? 1 : a === b ? 0 : compareNaN(a, b);
  }
  if (typeof a === 'string' && typeof b === 'string') {
    return compareStrings(a, b);
  }
  const typeA = typeOf(a);
  const typeB = typeOf(b);
  const order = getTypeRank(typeA) - getTypeRank(typeB);
  return order === 0 ? compareSameOrder(a, b, typeA) : order;
}

/**
 * True if two values are equal in the total order. 1, 1.0 and Decimal128 1.00 are equal. Documents
 * with the same fields in a different order are not.
 */
export function equalValues(a: unknown, b: unknown): boolean {
  return a === b || compareValues(a, b) === 0;
}

/**
 * Returns the rank of a type in the total order. Values of types with the same rank are compared by
 * value.
 */
export function getTypeRank(type: BsonType): number {
  return ORDER[type + 1] ?? 0;
}

const ORDER = new Uint8Array(129);
const RANKS: readonly (readonly BsonType[])[] = [
  [BSON.minKey],
  [BSON.undefined],
  [BSON.null],
  [BSON.double, BSON.int, BSON.long, BSON.decimal],
  [BSON.string, BSON.symbol],
  [BSON.object],
  [BSON.array],
  [BSON.binData],
  [BSON.objectId],
  [BSON.bool],
  [BSON.date],
  [BSON.timestamp],
  [BSON.regex],
  [BSON.javascript],
  [BSON.javascriptWithScope],
  [BSON.maxKey],
];
RANKS.forEach((types, rank) => {
  types.forEach((type) => (ORDER[type + 1] = rank + 1));
});

function compareSameOrder(a: unknown, b: unknown, type: BsonType): number {
  switch (type) {
    case BSON.minKey:
    case BSON.maxKey:
    case BSON.undefined:
    case BSON.null:
      return 0;
    case BSON.double:
    case BSON.int:
    case BSON.long:
    case BSON.decimal:
      return compareNumbers(a as Numeric, b as Numeric);
    case BSON.string:
    case BSON.symbol:
      return compareStrings(textOf(a), textOf(b));
    case BSON.object:
      return compareDocs(a as Doc, b as Doc);
    case BSON.array:
      return compareArrays(a as unknown[], b as unknown[]);
    case BSON.binData:
      return compareBinary(a as Binary | Uint8Array, b as Binary | Uint8Array);
    case BSON.objectId:
      return compareObjectIds(a as ObjectId, b as ObjectId);
    case BSON.bool:
      return Number(a) - Number(b);
    case BSON.date:
      return (a as Date).getTime() - (b as Date).getTime();
    case BSON.timestamp:
      return compareTimestamps(a as Timestamp, b as Timestamp);
    case BSON.regex:
      return compareRegexes(a as BSONRegExp, b as BSONRegExp);
    case BSON.javascript:
    case BSON.javascriptWithScope:
      return compareCode(a as Code, b as Code);
  }
}

/**
 * Compares two numbers by their exact values. NaN sorts before all other numbers and equals itself.
 */
export function compareNumbers(a: Numeric, b: Numeric): number {
  if (a instanceof Long && b instanceof Long) {
    return a.compare(b);
  }
  if (a instanceof Decimal128 || b instanceof Decimal128) {
    return compareAsDecimals(toExactDecimal(a), toExactDecimal(b));
  }
  if (a instanceof Long || b instanceof Long) {
    return compareMixed(a, b);
  }
  const x = toDouble(a);
  const y = toDouble(b);
  return x < y ? -1 : x > y ? 1 : x === y ? 0 : compareNaN(x, y);
}

/** Compares an int64 with a double. JS compares a BigInt with a number exactly. */
function compareMixed(a: Numeric, b: Numeric): number {
  const x = a instanceof Long ? integerOf(a) : toDouble(a);
  const y = b instanceof Long ? integerOf(b) : toDouble(b);
  if (Number.isNaN(x)) {
    return -1;
  }
  return x < y ? -1 : x > y || Number.isNaN(y) ? 1 : 0;
}

function integerOf(value: Long): number | bigint {
  const double = value.toNumber();
  return Number.isSafeInteger(double) ? double : value.toBigInt();
}

function compareAsDecimals(a: Decimal, b: Decimal): number {
  if (a.kind === 'nan' || b.kind === 'nan') {
    return Number(b.kind === 'nan') - Number(a.kind === 'nan');
  }
  return compareDecimals(a, b);
}

function compareNaN(a: number, b: number): number {
  return Number.isNaN(a) ? (Number.isNaN(b) ? 0 : -1) : 1;
}

/**
 * Compares strings by their UTF-8 bytes, which is the order of code points. JS compares UTF-16 code
 * units and would sort surrogates before some smaller code points.
 */
export function compareStrings(a: string, b: string): number {
  if (a === b) {
    return 0;
  }
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) {
      return codePointRank(x) - codePointRank(y);
    }
  }
  return a.length - b.length;
}

function codePointRank(unit: number): number {
  return unit < 0xd800 ? unit : unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (value as BSONSymbol).value;
}

/**
 * Compares documents field by field. In each field, the type is compared first, then the name, then
 * the value.
 */
function compareDocs(a: Doc, b: Doc): number {
  const keysA = keysOf(a);
  const keysB = keysOf(b);
  const length = Math.min(keysA.length, keysB.length);
  for (let i = 0; i < length; i++) {
    const keyA = keysA[i] ?? '';
    const keyB = keysB[i] ?? '';
    const x = a[keyA];
    const y = b[keyB];
    const order =
      getTypeRank(typeOf(x)) - getTypeRank(typeOf(y)) || compareStrings(keyA, keyB) || compareValues(x, y);
    if (order !== 0) {
      return order;
    }
  }
  return keysA.length - keysB.length;
}

function compareArrays(a: readonly unknown[], b: readonly unknown[]): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order = compareValues(a[i], b[i]);
    if (order !== 0) {
      return order;
    }
  }
  return a.length - b.length;
}

/** Compares binary data by length, then by subtype, then by content. */
function compareBinary(a: Binary | Uint8Array, b: Binary | Uint8Array): number {
  const x = binaryBytes(a);
  const y = binaryBytes(b);
  return x.length - y.length || subTypeOf(a) - subTypeOf(b) || Buffer.compare(x, y);
}

export function binaryBytes(value: Binary | Uint8Array): Uint8Array {
  return value instanceof Uint8Array ? value : value.buffer.subarray(0, value.position);
}

export function subTypeOf(value: Binary | Uint8Array): number {
  return value instanceof Uint8Array ? 0 : value.sub_type;
}

function compareObjectIds(a: ObjectId, b: ObjectId): number {
  return a.equals(b) ? 0 : Buffer.compare(a.id, b.id);
}

function compareTimestamps(a: Timestamp, b: Timestamp): number {
  return a.t - b.t || a.i - b.i;
}

function compareRegexes(a: BSONRegExp, b: BSONRegExp): number {
  return compareStrings(a.pattern, b.pattern) || compareStrings(a.options, b.options);
}

function compareCode(a: Code, b: Code): number {
  return compareStrings(a.code, b.code) || compareDocs(a.scope ?? {}, b.scope ?? {});
}
