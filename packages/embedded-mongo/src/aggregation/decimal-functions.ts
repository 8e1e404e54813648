import { DECIMAL_NAN, digitsOf, divideHalfEven, finite, signedCoefficient } from '../values/decimal.js';
import type { Decimal } from '../values/decimal.js';

const digitsMax = 34;

/** IEEE remainder with the sign of the dividend, at the smaller exponent. */
export function moduloDecimals(left: Decimal, right: Decimal): Decimal {
  if (
    left.kind !== 'finite' ||
    right.kind === 'nan' ||
    (right.kind === 'finite' && right.coefficient === 0n)
  ) {
    return DECIMAL_NAN;
  }
  if (right.kind === 'infinity') {
    return left;
  }
  const exponent = Math.min(left.exponent, right.exponent);
  const at = (value: Decimal): bigint => value.coefficient * 10n ** BigInt(value.exponent - exponent);
  const rest = at(left) % at(right);
  return { kind: 'finite', negative: left.negative, coefficient: rest, exponent };
}

export type Rounding = 'halfEven' | 'towardZero' | 'up' | 'down';

/** A value at the given exponent; NaN, as in IEEE 754, if that needs more than 34 digits. */
export function quantize(value: Decimal, exponent: number, rounding: Rounding): Decimal {
  if (value.kind !== 'finite') {
    return value.kind === 'nan' ? value : DECIMAL_NAN;
  }
  const shift = value.exponent - exponent;
  const coefficient =
    shift >= 0
      ? value.coefficient * 10n ** BigInt(shift)
      : roundedQuotient(value, 10n ** BigInt(-shift), rounding);
  return digitsOf(coefficient) > digitsMax
    ? DECIMAL_NAN
    : { kind: 'finite', negative: value.negative, coefficient, exponent };
}

function roundedQuotient(value: Decimal, divisor: bigint, rounding: Rounding): bigint {
  if (rounding === 'halfEven') {
    return divideHalfEven(value.coefficient, divisor);
  }
  const quotient = value.coefficient / divisor;
  const awayFromZero = (rounding === 'up' && !value.negative) || (rounding === 'down' && value.negative);
  return awayFromZero && value.coefficient % divisor !== 0n ? quotient + 1n : quotient;
}

/** The square root to 34 digits, exact where it is. The value must not be negative. */
export function squareRoot(value: Decimal): Decimal {
  if (value.kind !== 'finite' || value.coefficient === 0n) {
    return value.kind === 'finite' ? { ...value, exponent: Math.floor(value.exponent / 2) } : value;
  }
  // The preferred exponent of an exact root is half of the value's.
  const preferred = Math.floor(value.exponent / 2);
  const whole = value.coefficient * 10n ** BigInt(value.exponent - 2 * preferred);
  const exact = integerRoot(whole);
  if (exact * exact === whole) {
    return finite(exact, preferred);
  }
  // Two digits a digit of the root, and one more pair so that rounding sees a sticky digit.
  const places = digitsMax + 2 - Math.ceil(digitsOf(whole) / 2);
  const scaled = whole * 10n ** BigInt(2 * Math.max(0, places));
  const root = integerRoot(scaled);
  const sticky = root * root === scaled ? 0n : 1n;
  return finite(root * 10n + sticky, preferred - Math.max(0, places) - 1);
}

function integerRoot(value: bigint): bigint {
  if (value < 2n) {
    return value;
  }
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) {
      return root;
    }
    root = next;
  }
}

/** An integer power, exact before the final rounding; undefined if the exponent is too large for that. */
export function integerPower(base: Decimal, exponent: bigint): Decimal | undefined {
  if (base.kind !== 'finite' || exponent < 0n || exponent > 1000n) {
    return undefined;
  }
  return finite(signedCoefficient(base) ** exponent, base.exponent * Number(exponent));
}
