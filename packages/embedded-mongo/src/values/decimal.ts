import { Decimal128 } from 'bson';

/**
 * An exact decimal number. The value of a finite decimal is (-1)^negative * coefficient *
 * 10^exponent. The exponent is preserved, as IEEE 754 requires, so 1.10 differs from 1.1. Packing
 * rounds to 34 digits, half to even.
 */
export interface Decimal {
  readonly kind: 'finite' | 'infinity' | 'nan';
  readonly negative: boolean;
  readonly coefficient: bigint;
  readonly exponent: number;
}

const DIGITS_MAX = 34;
const EXPONENT_MIN = -6176;
const EXPONENT_MAX = 6111;
const BIAS = 6176;

export const DECIMAL_NAN: Decimal = { kind: 'nan', negative: false, coefficient: 0n, exponent: 0 };

function decimalInfinity(negative: boolean): Decimal {
  return { kind: 'infinity', negative, coefficient: 0n, exponent: 0 };
}

export function finite(signed: bigint, exponent: number): Decimal {
  return { kind: 'finite', negative: signed < 0n, coefficient: signed < 0n ? -signed : signed, exponent };
}

/** Unpacks a Decimal128. */
export function unpackDecimal(value: Decimal128): Decimal {
  const bytes = value.bytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset, 16);
  const top = view.getUint32(12, true);
  const negative = top >>> 31 === 1;
  const combination = (top >>> 26) & 0x1f;
  if (combination === 0x1f) {
    return DECIMAL_NAN;
  }
  if (combination === 0x1e) {
    return decimalInfinity(negative);
  }
  if (combination >= 0x18) {
    // By IEEE 754, a coefficient with more than 34 digits represents zero.
    const exponent = ((top >>> 15) & 0x3fff) - BIAS;
    return { kind: 'finite', negative, coefficient: 0n, exponent };
  }
  const exponent = ((top >>> 17) & 0x3fff) - BIAS;
  const high = view.getBigUint64(8, true) & 0x1ffffffffffffn;
  const coefficient = high === 0n ? view.getBigUint64(0, true) : (high << 64n) | view.getBigUint64(0, true);
  return {
    kind: 'finite',
    negative,
    coefficient: coefficient < COEFFICIENT_LIMIT ? coefficient : 0n,
    exponent,
  };
}

const COEFFICIENT_LIMIT = 10n ** 34n;

/**
 * Packs a decimal into a Decimal128 and rounds it to 34 digits, half to even. A value that is too
 * large becomes infinity. A value that is too small becomes zero.
 */
export function packDecimal(value: Decimal): Decimal128 {
  if (value.kind === 'nan') {
    return packBits(false, 0x7c000000, 0n);
  }
  if (value.kind === 'infinity') {
    return packBits(value.negative, 0x78000000, 0n);
  }
  const rounded = roundToFormat(value);
  if (rounded.kind === 'infinity') {
    return packBits(value.negative, 0x78000000, 0n);
  }
  return packBits(value.negative, (rounded.exponent + BIAS) << 17, rounded.coefficient);
}

function packBits(negative: boolean, top: number, coefficient: bigint): Decimal128 {
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, coefficient & 0xffffffffffffffffn, true);
  view.setBigUint64(8, coefficient >> 64n, true);
  view.setUint32(12, (view.getUint32(12, true) | top | (negative ? 0x80000000 : 0)) >>> 0, true);
  return new Decimal128(bytes);
}

/** Rounds a finite decimal to 34 digits and to the range of the exponent. */
function roundToFormat(value: Decimal): Decimal {
  let { coefficient, exponent } = value;
  const excess = coefficient < COEFFICIENT_LIMIT ? 0 : digitsOf(coefficient) - DIGITS_MAX;
  const drop = Math.max(excess, EXPONENT_MIN - exponent);
  if (drop > 0) {
    coefficient = divideHalfEven(coefficient, 10n ** BigInt(drop));
    exponent += drop;
    if (coefficient === COEFFICIENT_LIMIT) {
      coefficient /= 10n;
      exponent++;
    }
  }
  if (exponent > EXPONENT_MAX) {
    if (coefficient === 0n) {
      exponent = EXPONENT_MAX;
    } else {
      coefficient *= 10n ** BigInt(exponent - EXPONENT_MAX);
      exponent = EXPONENT_MAX;
      if (coefficient >= COEFFICIENT_LIMIT) {
        return decimalInfinity(value.negative);
      }
    }
  }
  return { kind: 'finite', negative: value.negative, coefficient, exponent };
}

/** Divides two numbers and rounds the quotient half to even. The quotient must not be negative. */
export function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const twice = (dividend % divisor) * 2n;
  const up = twice > divisor || (twice === divisor && (quotient & 1n) === 1n);
  return up ? quotient + 1n : quotient;
}

export function digitsOf(coefficient: bigint): number {
  return coefficient === 0n ? 1 : coefficient.toString().length;
}

export function signedCoefficient(value: Decimal): bigint {
  return value.negative ? -value.coefficient : value.coefficient;
}

export function addDecimals(a: Decimal, b: Decimal): Decimal {
  if (a.kind !== 'finite' || b.kind !== 'finite') {
    if (a.kind === 'nan' || b.kind === 'nan') {
      return DECIMAL_NAN;
    }
    if (a.kind === 'infinity' && b.kind === 'infinity') {
      return a.negative === b.negative ? a : DECIMAL_NAN;
    }
    return a.kind === 'infinity' ? a : b;
  }
  const exponent = Math.min(a.exponent, b.exponent);
  const sum = scaleTo(a, exponent) + scaleTo(b, exponent);
  // By IEEE 754, a sum of zero is -0 only if both numbers are negative. Otherwise it is +0.
  return sum === 0n
    ? { kind: 'finite', negative: a.negative && b.negative, coefficient: 0n, exponent }
    : finite(sum, exponent);
}

function scaleTo(value: Decimal, exponent: number): bigint {
  const signed = signedCoefficient(value);
  return value.exponent === exponent ? signed : signed * 10n ** BigInt(value.exponent - exponent);
}

export function negateDecimal(value: Decimal): Decimal {
  return value.kind === 'nan' ? value : { ...value, negative: !value.negative };
}

export function multiplyDecimals(a: Decimal, b: Decimal): Decimal {
  if (a.kind === 'nan' || b.kind === 'nan') {
    return DECIMAL_NAN;
  }
  const negative = a.negative !== b.negative;
  if (a.kind === 'infinity' || b.kind === 'infinity') {
    const zero =
      (a.kind === 'finite' && a.coefficient === 0n) || (b.kind === 'finite' && b.coefficient === 0n);
    return zero ? DECIMAL_NAN : decimalInfinity(negative);
  }
  return {
    kind: 'finite',
    negative,
    coefficient: a.coefficient * b.coefficient,
    exponent: a.exponent + b.exponent,
  };
}

/** Compares two decimals. Neither may be NaN. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  if (a.kind === 'infinity' || b.kind === 'infinity') {
    return rank(a) - rank(b);
  }
  const exponent = Math.min(a.exponent, b.exponent);
  const difference = scaleTo(a, exponent) - scaleTo(b, exponent);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function rank(value: Decimal): number {
  return value.kind === 'finite' ? 0 : value.negative ? -1 : 1;
}

const bits = new DataView(new ArrayBuffer(8));

/** Returns the exact value of a double. */
export function decimalOfDouble(value: number): Decimal {
  if (Number.isNaN(value)) {
    return DECIMAL_NAN;
  }
  const negative = value < 0 || Object.is(value, -0);
  if (!Number.isFinite(value)) {
    return decimalInfinity(negative);
  }
  if (Number.isSafeInteger(value)) {
    return { kind: 'finite', negative, coefficient: BigInt(Math.abs(value)), exponent: 0 };
  }
  bits.setFloat64(0, value);
  const field = (bits.getUint16(0) >>> 4) & 0x7ff;
  const fraction = bits.getBigUint64(0) & 0xfffffffffffffn;
  const mantissa = field === 0 ? fraction : fraction | 0x10000000000000n;
  const power = (field === 0 ? 1 : field) - 1075;
  if (power >= 0) {
    return { kind: 'finite', negative, coefficient: mantissa << BigInt(power), exponent: 0 };
  }
  // m / 2^k = m * 5^k / 10^k. Common factors of two are removed first, which keeps the number of
  // digits small.
  let k = -power;
  let m = mantissa;
  while (k > 0 && (m & 1n) === 0n) {
    m >>= 1n;
    k--;
  }
  return { kind: 'finite', negative, coefficient: m * 5n ** BigInt(k), exponent: -k };
}

/**
 * Converts a double as MongoDB does for decimal arithmetic: rounded to 15 significant digits and
 * padded with zeros to 15 digits.
 */
export function decimalOf15Digits(value: number): Decimal {
  const exact = decimalOfDouble(value);
  if (exact.kind !== 'finite' || exact.coefficient === 0n) {
    return exact;
  }
  const excess = digitsOf(exact.coefficient) - 15;
  if (excess <= 0) {
    return {
      ...exact,
      coefficient: exact.coefficient * 10n ** BigInt(-excess),
      exponent: exact.exponent + excess,
    };
  }
  const coefficient = divideHalfEven(exact.coefficient, 10n ** BigInt(excess));
  const exponent = exact.exponent + excess;
  return coefficient === 10n ** 15n
    ? { ...exact, coefficient: coefficient / 10n, exponent: exponent + 1 }
    : { ...exact, coefficient, exponent };
}

/** Returns the double that is nearest to a decimal. */
export function doubleOfDecimal(value: Decimal): number {
  if (value.kind === 'nan') {
    return Number.NaN;
  }
  const magnitude =
    value.kind === 'infinity' ? Number.POSITIVE_INFINITY : Number(`${value.coefficient}e${value.exponent}`);
  return value.negative ? -magnitude : magnitude;
}
