import { Binary, Decimal128, Long, ObjectId } from 'bson';
import { MongoError } from '../../errors.js';
import { finite, packDecimal } from '../../values/decimal.js';
import { asDouble, toBigInt, toDecimal, toDouble } from '../../values/numbers.js';
import { BSON, isNumeric, typeNameOf, typeOf } from '../../values/types.js';
import type { BsonTypeName } from '../../values/types.js';
import {
  coerceToMillis,
  coerceToString,
  integerOf,
  isNullish,
  isTrue,
  millisOf,
  numberToString,
} from '../coerce.js';
import { instantOf, parseDate } from '../dates/parse.js';
import { UTC } from '../dates/zone.js';
import { combine, constant, namedOperands, unary } from '../operator.js';
import type { Expression, OperatorCall, OperatorCompiler } from '../operator.js';
import { dateOf } from './arithmetic.js';
import { parseDecimal, parseDouble, parseInteger } from '../parse-number.js';

/** Conversions between types. Errors 241 (of a value) and 9 (of the arguments). */
export const conversionOperators: Readonly<Record<string, OperatorCompiler>> = {
  $convert: compileConvert,
  $toBool: shorthand('bool'),
  $toDate: shorthand('date'),
  $toDecimal: shorthand('decimal'),
  $toDouble: shorthand('double'),
  $toInt: shorthand('int'),
  $toLong: shorthand('long'),
  $toObjectId: shorthand('objectId'),
  $toString: shorthand('string'),
  $type: unary((value) => (value === undefined ? 'missing' : typeNameOf(value))),
};

type Target = 'bool' | 'date' | 'decimal' | 'double' | 'int' | 'long' | 'objectId' | 'string';

const converters: Readonly<Record<Target, (value: unknown) => unknown>> = {
  bool: toBool,
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

function compileConvert(argument: unknown, call: OperatorCall): Expression {
  const operands = namedOperands(argument, call, {
    keys: ['input', 'to', 'onError', 'onNull', 'format', 'base', 'byteOrder'],
    required: { input: 9, to: 9 },
    notObject: 9,
    unknownKey: 9,
  });
  const { input = constant(null), to = constant(null), onError, onNull = constant(null) } = operands;
  if (operands.format !== undefined || operands.base !== undefined || operands.byteOrder !== undefined) {
    throw new MongoError(
      238,
      "$convert with 'format', 'base' or 'byteOrder' is not supported by embedded-mongo",
    );
  }
  return combine(Object.values(operands), (root) => {
    const target = to.evaluate(root);
    const value = input.evaluate(root);
    const convert = isNullish(target) ? undefined : converters[targetOf(target)];
    if (isNullish(value)) {
      return onNull.evaluate(root);
    }
    if (convert === undefined) {
      return null;
    }
    try {
      return convert(value);
    } catch (error) {
      if (onError !== undefined && error instanceof MongoError && error.code === 241) {
        return onError.evaluate(root);
      }
      throw error;
    }
  });
}

/** The type that `to` names: an alias or a type number. Errors 2 and 9. */
function targetOf(to: unknown): Target {
  const number = isNumeric(to) ? integerOf(to) : undefined;
  if (typeof to !== 'string' && number === undefined) {
    throw new MongoError(9, `$convert's 'to' argument must be a string or number, but is ${typeNameOf(to)}`);
  }
  const name = typeof to === 'string' ? to : Object.entries(BSON).find(([, code]) => code === number)?.[0];
  if (name !== undefined && Object.hasOwn(converters, name)) {
    return name as Target;
  }
  if (name === undefined || !Object.hasOwn(BSON, name)) {
    throw new MongoError(2, `Unknown type name or code: ${String(to)}`);
  }
  throw new MongoError(241, `Unsupported conversion to ${name satisfies string as BsonTypeName} in $convert`);
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

function toBool(value: unknown): boolean {
  return isTrue(value);
}

function toDate(value: unknown): unknown {
  switch (typeOf(value)) {
    case BSON.date:
      return value;
    case BSON.timestamp:
    case BSON.objectId:
      return new Date(coerceToMillis(value));
    case BSON.string:
      return dateOf(instantOf(parseDate(value as string), UTC));
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
    case BSON.binData:
      return binaryText(value);
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

function binaryText(value: unknown): string {
  const binary = value instanceof Binary ? value : new Binary(value as Uint8Array);
  return binary.sub_type === Binary.SUBTYPE_UUID && binary.length() === 16
    ? binary.toUUID().toHexString(true)
    : Buffer.from(binary.value()).toString('base64');
}
