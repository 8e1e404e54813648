import { ObjectId } from 'bson';
import { MongoError } from '../../errors.js';
import { toBigInt } from '../../values/numbers.js';
import { isNumeric, typeNameOf, typeOf, BSON } from '../../values/types.js';
import { coerceToMillis, coerceToString, isDateLike, isNullish } from '../coerce.js';
import { unary, type OperatorCompiler } from '../operator.js';
import { dateOf } from './arithmetic.js';

/**
 * Operators that convert between types. Null and missing values become null. An impossible
 * conversion throws MongoError 241. A string in `$toDate` throws 238, because it is not supported.
 */
export const conversionOperators: Readonly<Record<string, OperatorCompiler>> = {
  $toDate: unary((value) => (isNullish(value) ? null : toDate(value))),
  $toObjectId: unary((value) => (isNullish(value) ? null : toObjectId(value))),
  $toString: unary((value) => (isNullish(value) ? null : toText(value))),
  $type: unary((value) => (value === undefined ? 'missing' : typeNameOf(value))),
};

function createConversionError(value: unknown, target: string): MongoError {
  return new MongoError(
    241,
    `Unsupported conversion from ${typeNameOf(value)} to ${target} in $convert with no onError value`,
  );
}

function toDate(value: unknown): Date {
  if (isDateLike(value)) {
    return dateOf(coerceToMillis(value));
  }
  if (typeof value === 'string') {
    throw new MongoError(238, '$toDate of a string is not supported by embedded-mongo');
  }
  const millis = isNumeric(value) && typeOf(value) !== BSON.int ? toBigInt(value) : undefined;
  if (millis === undefined) {
    throw createConversionError(value, 'date');
  }
  return dateOf(Number(millis));
}

function toObjectId(value: unknown): unknown {
  if (value instanceof ObjectId) {
    return value;
  }
  if (typeof value !== 'string') {
    throw createConversionError(value, 'objectId');
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
      throw createConversionError(value, 'string');
  }
}
