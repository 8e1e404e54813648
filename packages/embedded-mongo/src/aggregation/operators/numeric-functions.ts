import { Decimal128, Long } from 'bson';
import { MongoError } from '../../errors.js';
import { packDecimal, unpackDecimal } from '../../values/decimal.js';
import type { Decimal } from '../../values/decimal.js';
import {
  asDouble,
  asInteger,
  asLong,
  numberKind,
  toBigInt,
  toDecimal,
  toDouble,
  toExactDecimal,
} from '../../values/numbers.js';
import { isNumeric, typeNameOf } from '../../values/types.js';
import type { Numeric } from '../../values/types.js';
import { integerOf, isNullish, longOf } from '../coerce.js';
import { integerPower, quantize, squareRoot } from '../decimal-functions.js';
import type { Rounding } from '../decimal-functions.js';
import { binary, constant, nary, operandsOf, unary } from '../operator.js';
import type { Expression, OperatorCall, OperatorCompiler } from '../operator.js';

/** Rounding, powers and logarithms. */
export const numericFunctions: Readonly<Record<string, OperatorCompiler>> = {
  $abs: ofNumber(absolute),
  $ceil: ofNumber((value) => roundToInteger(value, Math.ceil, 'up')),
  $floor: ofNumber((value) => roundToInteger(value, Math.floor, 'down')),
  $round: nary({ min: 1, max: 2 }, ([value, places], name) =>
    roundOrTruncate({ value, places, name }, 'halfEven'),
  ),
  $trunc: nary({ min: 1, max: 2 }, ([value, places], name) =>
    roundOrTruncate({ value, places, name }, 'towardZero'),
  ),
  $sqrt: ofNumber(root),
  $exp: ofNumber((value, name) => asDouble(Math.exp(noDecimal(value, name)))),
  $ln: ofNumber((value, name) => logarithm(value, { name, code: 28766, apply: Math.log })),
  $log10: ofNumber((value, name) => logarithm(value, { name, code: 28761, apply: Math.log10 })),
  $log: binary(logarithmOfBase),
  $pow: binary(power),
  $isNumber: unary(isNumeric),
  $bitNot: ofNumber(bitNot),
  $bitAnd: bitwise('$bitAnd', -1n, (a, b) => a & b),
  $bitOr: bitwise('$bitOr', 0n, (a, b) => a | b),
  $bitXor: bitwise('$bitXor', 0n, (a, b) => a ^ b),
  $rand: compileRand,
};

/** An operator of one number, null for null and missing. Error 28765. */
export function ofNumber(apply: (value: Numeric, name: string) => unknown): OperatorCompiler {
  return unary((value, name) => {
    if (isNullish(value)) {
      return null;
    }
    if (!isNumeric(value)) {
      throw new MongoError(28765, `${name} only supports numeric types, not ${typeNameOf(value)}`);
    }
    return apply(value, name);
  });
}

/** Functions that are not exact for 34 digits are refused for decimals rather than answered in double precision. */
export function noDecimal(value: Numeric, name: string): number {
  if (value instanceof Decimal128 && unpackDecimal(value).kind === 'finite') {
    throw new MongoError(238, `${name} of a Decimal128 is not supported by embedded-mongo`);
  }
  return toDouble(value);
}

function absolute(value: Numeric): Numeric {
  switch (numberKind(value)) {
    case 'decimal':
      return packDecimal({ ...toDecimal(value), negative: false });
    case 'double':
      return asDouble(Math.abs(toDouble(value)));
    case 'int':
      return Math.abs(toDouble(value)) === 2147483648
        ? Long.fromNumber(2147483648)
        : Math.abs(toDouble(value));
    case 'long':
      break;
  }
  const long = toBigInt(value) ?? 0n;
  const result = asLong(long < 0n ? -long : long);
  if (result === undefined) {
    throw new MongoError(28680, "can't take $abs of long long min");
  }
  return result;
}

function roundToInteger(value: Numeric, ofDouble: (value: number) => number, rounding: Rounding): Numeric {
  switch (numberKind(value)) {
    case 'decimal': {
      const decimal = toDecimal(value);
      return decimal.kind === 'finite' ? packDecimal(quantize(decimal, 0, rounding)) : value;
    }
    case 'double':
      return asDouble(ofDouble(toDouble(value)));
    case 'int':
    case 'long':
      return value;
  }
}

interface RoundArguments {
  readonly value: unknown;
  readonly places: unknown;
  readonly name: string;
}

function roundOrTruncate({ value, places, name }: RoundArguments, rounding: Rounding): unknown {
  if (isNullish(value)) {
    return null;
  }
  if (!isNumeric(value)) {
    throw new MongoError(51081, `${name} only supports numeric types, not ${typeNameOf(value)}`);
  }
  if (places === null) {
    return null;
  }
  const precision = places === undefined ? 0 : precisionOf(places, name);
  switch (numberKind(value)) {
    case 'decimal':
      return roundDecimal(value, precision, rounding);
    case 'double': {
      const double = toDouble(value);
      // 34 digits are what MongoDB rounds: the exact value of a double may have more.
      return Number.isFinite(double)
        ? asDouble(toDouble(roundDecimal(packDecimal(toExactDecimal(value)), precision, rounding)))
        : value;
    }
    case 'int':
    case 'long':
      return precision >= 0 ? value : roundInteger({ value, precision, name }, rounding);
  }
}

function precisionOf(places: unknown, name: string): number {
  const precision = integerOf(places);
  if (precision === undefined) {
    throw new MongoError(51082, `precision argument to ${name} must be a integral value`);
  }
  if (precision < -20 || precision > 100) {
    throw new MongoError(
      51083,
      `cannot apply ${name} with precision value ${precision} value must be in [-20, 100]`,
    );
  }
  return precision;
}

function roundDecimal(value: Numeric, precision: number, rounding: Rounding): Numeric {
  const decimal = toDecimal(value);
  return decimal.kind === 'infinity' ? value : packDecimal(quantize(decimal, -precision, rounding));
}

function roundInteger(
  { value, precision, name }: { value: Numeric; precision: number; name: string },
  rounding: Rounding,
): Numeric {
  const rounded = toBigInt(packDecimal(quantize(toDecimal(value), -precision, rounding))) ?? 0n;
  const long = asLong(rounded);
  if (long === undefined) {
    throw new MongoError(51080, `invalid conversion from Decimal128 result in ${name}`);
  }
  return numberKind(value) === 'long' ? long : (asInteger(rounded) ?? long);
}

function root(value: Numeric): Numeric {
  if (numberKind(value) === 'decimal') {
    const decimal = toDecimal(value);
    checkRoot(decimal.kind === 'nan' || !decimal.negative || isZero(decimal));
    return packDecimal(squareRoot(decimal));
  }
  const double = toDouble(value);
  checkRoot(!(double < 0));
  return asDouble(Math.sqrt(double));
}

const isZero = (value: Decimal): boolean => value.kind === 'finite' && value.coefficient === 0n;

function checkRoot(valid: boolean): void {
  if (!valid) {
    throw new MongoError(28714, "$sqrt's argument must be greater than or equal to 0");
  }
}

interface Logarithm {
  readonly name: string;
  readonly code: number;
  readonly apply: (value: number) => number;
}

function logarithm(value: Numeric, { name, code, apply }: Logarithm): Numeric {
  const double = toDouble(value);
  if (!(double > 0) && !Number.isNaN(double)) {
    throw new MongoError(code, `${name}'s argument must be a positive number, but is ${double}`);
  }
  return asDouble(apply(noDecimal(value, name)));
}

function logarithmOfBase(value: unknown, base: unknown): unknown {
  if (isNullish(value) || isNullish(base)) {
    return null;
  }
  if (!isNumeric(value)) {
    throw new MongoError(28756, `$log's argument must be numeric, not ${typeNameOf(value)}`);
  }
  if (!isNumeric(base)) {
    throw new MongoError(28757, `$log's base must be numeric, not ${typeNameOf(base)}`);
  }
  const [number, of] = [toDouble(value), toDouble(base)];
  if (!(number > 0) && !Number.isNaN(number)) {
    throw new MongoError(28758, `$log's argument must be a positive number, but is ${number}`);
  }
  if ((!(of > 0) || of === 1) && !Number.isNaN(of)) {
    throw new MongoError(28759, `$log's base must be a positive number not equal to 1, but is ${of}`);
  }
  return asDouble(Math.log(noDecimal(value, '$log')) / Math.log(noDecimal(base, '$log')));
}

function power(base: unknown, exponent: unknown): unknown {
  if (isNullish(base) || isNullish(exponent)) {
    return null;
  }
  if (!isNumeric(base)) {
    throw new MongoError(28762, `$pow's base must be numeric, not ${typeNameOf(base)}`);
  }
  if (!isNumeric(exponent)) {
    throw new MongoError(28763, `$pow's exponent must be numeric, not ${typeNameOf(exponent)}`);
  }
  if (toDouble(base) === 0 && toDouble(exponent) < 0) {
    throw new MongoError(28764, '$pow cannot take a base of 0 and a negative exponent');
  }
  return powerOf(base, exponent);
}

function powerOf(base: Numeric, exponent: Numeric): Numeric {
  const kinds = [numberKind(base), numberKind(exponent)];
  if (kinds.includes('decimal')) {
    const whole = longOf(exponent);
    const exact = whole === undefined ? undefined : integerPower(toDecimal(base), whole);
    return exact === undefined
      ? asDouble(noDecimal(packDecimal(toDecimal(base)), '$pow'))
      : packDecimal(exact);
  }
  const inexact = (): Numeric => asDouble(toDouble(base) ** toDouble(exponent));
  if (kinds.includes('double')) {
    return inexact();
  }
  const [number, times] = [toBigInt(base) ?? 0n, toBigInt(exponent) ?? 0n];
  const isUnit = number >= -1n && number <= 1n;
  if ((times < 0n || times > 63n) && !isUnit) {
    return inexact();
  }
  const result = isUnit ? unitPower(number, times) : number ** times;
  const long = asLong(result);
  return long === undefined ? inexact() : kinds.includes('long') ? long : (asInteger(result) ?? long);
}

function unitPower(base: bigint, exponent: bigint): bigint {
  return exponent === 0n || base === 1n || (base === -1n && exponent % 2n === 0n) ? 1n : base;
}

function bitNot(value: Numeric): Numeric {
  const kind = numberKind(value);
  if (kind === 'int') {
    return ~toDouble(value);
  }
  if (kind === 'long') {
    return Long.fromBigInt(~(toBigInt(value) ?? 0n));
  }
  throw new MongoError(14, `$bitNot only supports int and long, not: ${kind}.`);
}

function bitwise(name: string, neutral: bigint, apply: (a: bigint, b: bigint) => bigint): OperatorCompiler {
  return nary({ min: 0, max: Infinity }, (values) => {
    let result = neutral;
    let long = false;
    for (const value of values) {
      if (isNullish(value)) {
        return null;
      }
      const kind = isNumeric(value) ? numberKind(value) : typeNameOf(value);
      if (!isNumeric(value) || (kind !== 'int' && kind !== 'long')) {
        throw new MongoError(14, `${name} only supports int and long operands, not: ${kind}.`);
      }
      long ||= kind === 'long';
      result = apply(result, toBigInt(value) ?? 0n);
    }
    return long ? Long.fromBigInt(result) : Number(result);
  });
}

function compileRand(argument: unknown, call: OperatorCall): Expression {
  const none = Array.isArray(argument) ? argument.length === 0 : isEmptyObject(argument);
  if (!none) {
    operandsOf([argument], call, { min: 1, max: 1 });
    throw new MongoError(3040501, '$rand does not currently accept arguments');
  }
  return { ...constant(null), evaluate: () => asDouble(Math.random()), constant: false };
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
