import { Long } from 'bson';
import { MongoError } from '../../errors.js';
import { packDecimal } from '../../values/decimal.js';
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
import { isNumeric, typeNameOf, type Numeric } from '../../values/types.js';
import { integerOf, isNullish } from '../coerce.js';
import { quantize, type Rounding } from '../decimal-rounding.js';
import { nary, unary, type OperatorCompiler } from '../operator.js';

/** Rounding and absolute values. */
export const roundingOperators: Readonly<Record<string, OperatorCompiler>> = {
  $abs: ofNumber(absolute),
  $ceil: ofNumber((value) => roundToInteger(value, Math.ceil, 'up')),
  $floor: ofNumber((value) => roundToInteger(value, Math.floor, 'down')),
  $round: nary({ min: 1, max: 2 }, ([value, places], name) =>
    roundOrTruncate({ value, places, name }, 'halfEven'),
  ),
  $trunc: nary({ min: 1, max: 2 }, ([value, places], name) =>
    roundOrTruncate({ value, places, name }, 'towardZero'),
  ),
};

/** An operator of one number, null for null and missing. Error 28765. */
function ofNumber(apply: (value: Numeric) => unknown): OperatorCompiler {
  return unary((value, name) => {
    if (isNullish(value)) {
      return null;
    }
    if (!isNumeric(value)) {
      throw new MongoError(28765, `${name} only supports numeric types, not ${typeNameOf(value)}`);
    }
    return apply(value);
  });
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
