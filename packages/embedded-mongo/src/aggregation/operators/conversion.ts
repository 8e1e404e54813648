import { Decimal128, Long, ObjectId } from 'bson';
import { MongoError } from '../../errors.js';
import { finite, packDecimal } from '../../values/decimal.js';
import { asDouble, toBigInt, toDecimal, toDouble } from '../../values/numbers.js';
import { BSON, isNumeric, typeNameOf, typeOf } from '../../values/types.js';
import { coerceToMillis, coerceToString, isNullish, isTrue, millisOf, numberToString } from '../coerce.js';
import { parseDate } from '../dates/parse.js';
import { unary, type OperatorCompiler } from '../operator.js';
import { dateOf } from './arithmetic.js';
import { parseDecimal, parseDouble, parseInteger } from '../parse-number.js';

/** Conversions between types. Error 241. */
export const conversionOperators: Readonly<Record<string, OperatorCompiler>> = {
  $toBool: shorthand('bool'),
  $toDate: shorthand('date'),
  $toDecimal: shorthand('decimal'),
  $toDouble: shorthand('double'),
  $toInt: shorthand('int'),
  $toLong: shorthand('long'),
  $toObjectId: shorthand('objectId'),
  $toString: shorthand('string'),
  $isNumber: unary(isNumeric),
  $type: unary((value) => (value === undefined ? 'missing' : typeNameOf(value))),
};

type Target = 'bool' | 'date' | 'decimal' | 'double' | 'int' | 'long' | 'objectId' | 'string';

const converters: Readonly<Record<Target, (value: unknown) => unknown>> = {
  bool: isTrue,
  date: toDate,
  decimal: convertToDecimal,
  double: convertToDouble,
  int: (value) => toInteger(value, 'int'),
  long: (value) => toInteger(value, 'long'),
  objectId: toObjectId,
  string: toText,
};

function shorthand(target: Target): OperatorCompiler {
  return unary((value) => (isNullish(value) ? null : converters[target](value)));
}

function unsupported(value: unknown, target: Target): MongoError {
  return new MongoError(
    241,
    `Unsupported conversion from ${typeNameOf(value)} to ${target} in $convert with no onError value`,
  );
}

function overflow(value: unknown): MongoError {
  return new MongoError(
    241,
    `Conversion would overflow target type in $convert with no onError value: ${numberToString(value)}`,
  );
}

function toDate(value: unknown): unknown {
  switch (typeOf(value)) {
    case BSON.date:
      return value;
    case BSON.timestamp:
    case BSON.objectId:
      return new Date(coerceToMillis(value));
    case BSON.string:
      return dateOf(parseDate(value as string));
    case BSON.double:
    case BSON.long:
    case BSON.decimal:
      return dateOf(toDouble(toInteger(value, 'long')));
    default:
      throw unsupported(value, 'date');
  }
}

function convertToDecimal(value: unknown): Decimal128 {
  if (isNumeric(value)) {
    return value instanceof Decimal128 ? value : packDecimal(toDecimal(value));
  }
  if (typeof value === 'boolean') {
    return packDecimal(finite(value ? 1n : 0n, 0));
  }
  if (typeof value === 'string') {
    return parseDecimal(value);
  }
  if (value instanceof Date) {
    return packDecimal(finite(BigInt(millisOf(value)), 0));
  }
  throw unsupported(value, 'decimal');
}

function convertToDouble(value: unknown): unknown {
  if (isNumeric(value)) {
    const double = toDouble(value);
    if (value instanceof Decimal128 && !Number.isFinite(double) && toDecimal(value).kind === 'finite') {
      throw overflow(value);
    }
    return asDouble(double);
  }
  if (typeof value === 'boolean') {
    return asDouble(value ? 1 : 0);
  }
  if (typeof value === 'string') {
    return asDouble(parseDouble(value));
  }
  if (value instanceof Date) {
    return asDouble(millisOf(value));
  }
  throw unsupported(value, 'double');
}

const integerBits = { int: 32, long: 64 } as const;

function toInteger(value: unknown, target: 'int' | 'long'): number | Long {
  const integer = wholePart(value, target);
  if (BigInt.asIntN(integerBits[target], integer) !== integer) {
    throw overflow(value);
  }
  return target === 'int' ? Number(integer) : Long.fromBigInt(integer);
}

function wholePart(value: unknown, target: 'int' | 'long'): bigint {
  if (isNumeric(value)) {
    const whole = toBigInt(value);
    if (whole === undefined) {
      throw new MongoError(
        241,
        `Attempt to convert ${numberToString(value)} value to integer type in $convert with no onError value`,
      );
    }
    return whole;
  }
  if (typeof value === 'boolean') {
    return value ? 1n : 0n;
  }
  if (typeof value === 'string') {
    return parseInteger(value);
  }
  if (value instanceof Date && target === 'long') {
    return BigInt(millisOf(value));
  }
  throw unsupported(value, target);
}

function toObjectId(value: unknown): unknown {
  if (value instanceof ObjectId) {
    return value;
  }
  if (typeof value !== 'string') {
    throw unsupported(value, 'objectId');
  }
  if (!/^[\da-f]{24}$/i.test(value)) {
    throw new MongoError(241, `Failed to parse objectId '${value}' in $convert with no onError value`);
  }
  return new ObjectId(value);
}

function toText(value: unknown): string {
  switch (typeOf(value)) {
    case BSON.objectId:
      return (value as ObjectId).toHexString();
    case BSON.bool:
      return value === true ? 'true' : 'false';
    case BSON.string:
    case BSON.int:
    case BSON.long:
    case BSON.double:
    case BSON.decimal:
    case BSON.date:
      return coerceToString(value);
    default:
      throw unsupported(value, 'string');
  }
}
