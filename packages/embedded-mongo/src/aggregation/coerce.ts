import { Decimal128, Double, Long, type BSONRegExp, type Code, type Timestamp } from 'bson';
import { MongoError } from '../errors.js';
import { unpackDecimal } from '../values/decimal.js';
import { BSON, typeNameOf, typeOf } from '../values/types.js';
import { formatIsoDate } from './dates/format.js';

/** True for null, a missing value and the deprecated BSON type undefined. */
export function isNullish(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/**
 * MongoDB's rule for truth: false, null, a missing value and a zero of any numeric type are false.
 * Every other value is true, including NaN, '' and [].
 */
export function isTruthy(value: unknown): boolean {
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'number':
      return value !== 0;
    case 'undefined':
      return false;
    case 'object':
      break;
    default:
      return true;
  }
  if (value instanceof Double) {
    return value.value !== 0;
  }
  if (value instanceof Long) {
    return !value.isZero();
  }
  if (value instanceof Decimal128) {
    const decimal = unpackDecimal(value);
    return decimal.kind !== 'finite' || decimal.coefficient !== 0n;
  }
  return value !== null;
}

/**
 * Returns the value of a number of any numeric type as a BigInt. Undefined if it is not an integer
 * in the int64 range.
 */
export function longOf(value: unknown): bigint | undefined {
  const integer = bigintOf(value);
  return integer !== undefined && BigInt.asIntN(64, integer) === integer ? integer : undefined;
}

/**
 * Returns the value of a number of any numeric type. Undefined if it is not an integer in the int32
 * range.
 */
export function integerOf(value: unknown): number | undefined {
  if (typeof value === 'number') {
    return (value | 0) === value ? value : undefined;
  }
  const integer = bigintOf(value);
  return integer !== undefined && BigInt.asIntN(32, integer) === integer ? Number(integer) : undefined;
}

function bigintOf(value: unknown): bigint | undefined {
  if (typeof value === 'number' || value instanceof Double) {
    const double = Number(value);
    return Number.isInteger(double) ? BigInt(double) : undefined;
  }
  if (value instanceof Long) {
    return value.toBigInt();
  }
  if (value instanceof Decimal128) {
    const { kind, negative, coefficient, exponent } = unpackDecimal(value);
    if (kind !== 'finite' || exponent > 20) {
      return undefined;
    }
    const scale = 10n ** BigInt(Math.abs(exponent));
    if (exponent < 0 && coefficient % scale !== 0n) {
      return undefined;
    }
    const integer = exponent < 0 ? coefficient / scale : coefficient * scale;
    return negative ? -integer : integer;
  }
  return undefined;
}

/**
 * Converts an operand to a string as `$toUpper` and `$substr` do. Null and a missing value become
 * ''.
 * @throws MongoError 16007 if a value of this type cannot be converted.
 */
export function coerceToString(value: unknown): string {
  switch (typeOf(value)) {
    case BSON.string:
      return value as string;
    case BSON.null:
    case BSON.undefined:
      return '';
    case BSON.int:
    case BSON.double:
    case BSON.long:
    case BSON.decimal:
      return numberToString(value);
    case BSON.date:
      return formatIsoDate(value as Date);
    case BSON.symbol:
      return String(value);
    case BSON.javascript:
      return (value as Code).code;
    case BSON.regex:
      return `/${(value as BSONRegExp).pattern}/${(value as BSONRegExp).options}`;
    default:
      throw new MongoError(16007, `can't convert from BSON type ${typeNameOf(value)} to String`);
  }
}

/** Formats a number as MongoDB does. */
export function numberToString(value: unknown): string {
  if (typeof value !== 'number' && !(value instanceof Double)) {
    return String(value);
  }
  const double = Number(value);
  if (!Number.isFinite(double)) {
    return Number.isNaN(double) ? 'NaN' : double > 0 ? 'Infinity' : '-Infinity';
  }
  return Object.is(double, -0) ? '-0' : doubleToString(double);
}

/**
 * MongoDB uses an exponent from 1e16 upwards and below 1e-4, with at least two digits. JS uses an
 * exponent from 1e21 upwards and below 1e-6.
 */
function doubleToString(double: number): string {
  const size = Math.abs(double);
  if (size !== 0 && (size >= 1e16 || size < 1e-4)) {
    const [digits = '', exponent = ''] = double.toExponential().split('e');
    const sign = exponent.startsWith('-') ? '-' : '+';
    return `${digits}e${sign}${exponent.slice(1).padStart(2, '0')}`;
  }
  return String(double);
}

/**
 * Returns the milliseconds since 1970 of a date, timestamp or ObjectId.
 * @throws MongoError 16006 for any other type.
 */
export function coerceToMillis(value: unknown): number {
  if (value instanceof Date) {
    return value.getTime();
  }
  const type = typeOf(value);
  if (type === BSON.timestamp) {
    return (value as Timestamp).t * 1000;
  }
  if (type === BSON.objectId) {
    return (value as { getTimestamp: () => Date }).getTimestamp().getTime();
  }
  throw new MongoError(16006, `can't convert from BSON type ${typeNameOf(value)} to Date`);
}

/** True if `coerceToMillis` accepts the value. */
export function isDateLike(value: unknown): boolean {
  const type = typeOf(value);
  return type === BSON.date || type === BSON.timestamp || type === BSON.objectId;
}
