import { Decimal128, Double, Int32, Long } from 'bson';
import {
  addDecimals,
  decimalOf15Digits,
  decimalOfDouble,
  doubleOfDecimal,
  finite,
  multiplyDecimals,
  negateDecimal,
  packDecimal,
  unpackDecimal,
  type Decimal,
} from './decimal.js';
import { BSON, isNumeric, typeOf, type Numeric } from './types.js';

export type NumberKind = 'int' | 'long' | 'double' | 'decimal';

export function numberKind(value: Numeric): NumberKind {
  if (typeof value === 'number') {
    return typeOf(value) === BSON.int ? 'int' : 'double';
  }
  if (value instanceof Long) {
    return 'long';
  }
  return value instanceof Double ? 'double' : value instanceof Int32 ? 'int' : 'decimal';
}

/**
 * Returns a value of type double. It is a JS number if that represents a double in memory, and
 * otherwise a `Double`.
 */
export function asDouble(value: number): number | Double {
  return (value | 0) === value ? new Double(value) : value;
}

/**
 * Returns an int32 if the value fits, otherwise an int64. Undefined if the value is outside the
 * int64 range.
 */
export function asInteger(value: bigint): number | Long | undefined {
  if (value >= -2147483648n && value <= 2147483647n) {
    return Number(value);
  }
  return asLong(value);
}

/** Returns an int64. Undefined if the value is outside the int64 range. */
export function asLong(value: bigint): Long | undefined {
  return BigInt.asIntN(64, value) === value ? Long.fromBigInt(value) : undefined;
}

/** Returns the nearest double. */
export function toDouble(value: Numeric): number {
  if (typeof value === 'number') {
    return value;
  }
  if (value instanceof Long) {
    return value.toNumber();
  }
  return value instanceof Decimal128 ? doubleOfDecimal(unpackDecimal(value)) : value.value;
}

export function isNaNValue(value: unknown): boolean {
  return isNumeric(value) && !(value instanceof Long) && Number.isNaN(toDouble(value));
}

/** Returns the value of a finite number without its fraction. Undefined for NaN and infinities. */
export function toBigInt(value: Numeric): bigint | undefined {
  if (value instanceof Long) {
    return value.toBigInt();
  }
  if (value instanceof Decimal128) {
    const { kind, negative, coefficient, exponent } = unpackDecimal(value);
    if (kind !== 'finite') {
      return undefined;
    }
    const magnitude =
      exponent >= 0 ? coefficient * 10n ** BigInt(exponent) : coefficient / 10n ** BigInt(-exponent);
    return negative ? -magnitude : magnitude;
  }
  const double = typeof value === 'number' ? value : value.value;
  return Number.isFinite(double) ? BigInt(Math.trunc(double)) : undefined;
}

/**
 * Converts a number as MongoDB does for decimal arithmetic. Integers are exact, and doubles are
 * rounded to 15 significant digits.
 */
export function toDecimal(value: Numeric): Decimal {
  return decimalOf(value, decimalOf15Digits);
}

/** Converts a number to a decimal with its exact value, even if it is a double. */
export function toExactDecimal(value: Numeric): Decimal {
  return decimalOf(value, decimalOfDouble);
}

function decimalOf(value: Numeric, ofDouble: (value: number) => Decimal): Decimal {
  if (value instanceof Decimal128) {
    return unpackDecimal(value);
  }
  if (value instanceof Long) {
    return finite(value.toBigInt(), 0);
  }
  const number = typeof value === 'number' ? value : value.value;
  return numberKind(value) === 'int' ? finite(BigInt(number), 0) : ofDouble(number);
}

/**
 * Adds two numbers by MongoDB's rules for types. Undefined if an integer sum is outside the int64
 * range. An update then fails, and an expression returns a double.
 */
export function addNumbers(a: Numeric, b: Numeric): Numeric | undefined {
  return calculate(a, b, ADD);
}

export function subtractNumbers(a: Numeric, b: Numeric): Numeric | undefined {
  return calculate(a, b, SUBTRACT);
}

export function multiplyNumbers(a: Numeric, b: Numeric): Numeric | undefined {
  return calculate(a, b, MULTIPLY);
}

interface Operation {
  readonly doubles: (a: number, b: number) => number;
  readonly integers: (a: bigint, b: bigint) => bigint;
  readonly decimals: (a: Decimal, b: Decimal) => Decimal;
}

const ADD: Operation = { doubles: (a, b) => a + b, integers: (a, b) => a + b, decimals: addDecimals };
const SUBTRACT: Operation = {
  doubles: (a, b) => a - b,
  integers: (a, b) => a - b,
  decimals: (a, b) => addDecimals(a, negateDecimal(b)),
};
const MULTIPLY: Operation = {
  doubles: (a, b) => a * b,
  integers: (a, b) => a * b,
  decimals: multiplyDecimals,
};

function calculate(a: Numeric, b: Numeric, operation: Operation): Numeric | undefined {
  const kindA = numberKind(a);
  const kindB = numberKind(b);
  if (kindA === 'int' && kindB === 'int') {
    const result = operation.doubles(toDouble(a), toDouble(b));
    if (Number.isSafeInteger(result)) {
      // Adding 0 turns -0, such as the result of 0 * -1, into the integer 0.
      return (result | 0) === result ? result + 0 : Long.fromNumber(result);
    }
  }
  if (kindA === 'decimal' || kindB === 'decimal') {
    return packDecimal(operation.decimals(toDecimal(a), toDecimal(b)));
  }
  if (kindA === 'double' || kindB === 'double') {
    return asDouble(operation.doubles(toDouble(a), toDouble(b)));
  }
  const exact = operation.integers(toBigInt(a) ?? 0n, toBigInt(b) ?? 0n);
  return kindA === 'int' && kindB === 'int' ? asInteger(exact) : asLong(exact);
}
