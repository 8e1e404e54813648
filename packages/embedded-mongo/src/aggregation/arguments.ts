import { MongoError } from '../errors.js';
import { isNumeric, typeNameOf } from '../values/types.js';
import { integerOf, isNullish, numberToString } from './coerce.js';

/** An array, or null for null and missing; anything else is the operator's error. */
export function arrayOrNull(value: unknown, code: number, what: string): unknown[] | null {
  if (isNullish(value)) {
    return null;
  }
  if (!Array.isArray(value)) {
    throw new MongoError(code, `${what} must be an array not ${typeNameOf(value)}`);
  }
  return value as unknown[];
}

/** How an operator names an int32 argument and its two errors. */
interface IntegerRule {
  readonly notNumber: number;
  readonly notInteger: number;
  readonly what: string;
}

/** A number of any type that is an int32. */
export function int32Argument(value: unknown, { notNumber, notInteger, what }: IntegerRule): number {
  if (!isNumeric(value)) {
    throw new MongoError(notNumber, `${what} must be a numeric value, but is ${typeNameOf(value)}`);
  }
  const integer = integerOf(value);
  if (integer === undefined) {
    throw new MongoError(
      notInteger,
      `${what} must be representable as a 32-bit integer: ${numberToString(value)}`,
    );
  }
  return integer;
}
