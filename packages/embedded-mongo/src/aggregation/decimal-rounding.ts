import { DECIMAL_NAN, digitsOf, divideHalfEven, type Decimal } from '../values/decimal.js';

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
