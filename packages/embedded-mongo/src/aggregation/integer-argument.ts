import { MongoError } from '../errors.js';
import { isNumeric, typeNameOf } from '../values/types.js';
import { integerOf, numberToString } from './coerce.js';

/** How an operator names an int32 argument and its two errors. */
export interface IntegerRule {
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

/** How an operator names a start or end index and its two errors. */
export interface IndexRule {
  readonly name: string;
  readonly notInteger: number;
  readonly negative: number;
}

/** A start or end index: an int32 that is not negative. */
export function indexArgument(value: unknown, { name, notInteger, negative }: IndexRule): number {
  const index = integerOf(value);
  if (index === undefined) {
    throw new MongoError(notInteger, `${name} requires an integral index, found: ${typeNameOf(value)}`);
  }
  if (index < 0) {
    throw new MongoError(negative, `${name} requires a nonnegative index, found: ${index}`);
  }
  return index;
}
