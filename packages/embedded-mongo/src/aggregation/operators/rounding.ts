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
  $abs: unary((value, name) => ofNumber(value, { name, code: 28765 }, absolute)),
  $ceil: toInteger('up'),
  $floor: toInteger('down'),
  $round: toPlaces('halfEven'),
  $trunc: toPlaces('towardZero'),
};

/** Null for null and missing; the given error for what is no number. */
function ofNumber(
  value: unknown,
  { name, code }: { readonly name: string; readonly code: number },
  apply: (value: Numeric) => Numeric | null,
): Numeric | null {
  if (isNullish(value)) {
    return null;
  }
  if (!isNumeric(value)) {
    throw new MongoError(code, `${name} only supports numeric types, not ${typeNameOf(value)}`);
  }
  return apply(value);
}

function absolute(value: Numeric): Numeric {
  switch (numberKind(value)) {
    case 'decimal':
      return packDecimal({ ...toDecimal(value), negative: false });
    case 'double':
      return asDouble(Math.abs(toDouble(value)));
    case 'int': {
      const size = Math.abs(toDouble(value));
      return size === 2147483648 ? Long.fromNumber(size) : size;
    }
    case 'long': {
      const long = toBigInt(value) ?? 0n;
      const size = asLong(long < 0n ? -long : long);
      if (size === undefined) {
        throw new MongoError(28680, "can't take $abs of long long min");
      }
      return size;
    }
  }
}

function toInteger(rounding: Rounding): OperatorCompiler {
  return unary((value, name) =>
    ofNumber(value, { name, code: 28765 }, (number) => rounded(number, 0, { name, rounding })),
  );
}

function toPlaces(rounding: Rounding): OperatorCompiler {
  return nary({ min: 1, max: 2 }, ([value, places], name) =>
    ofNumber(value, { name, code: 51081 }, (number) =>
      places === null ? null : rounded(number, placesOf(places, name), { name, rounding }),
    ),
  );
}

function placesOf(places: unknown, name: string): number {
  const whole = places === undefined ? 0 : integerOf(places);
  if (whole === undefined) {
    throw new MongoError(51082, `precision argument to ${name} must be a integral value`);
  }
  if (whole < -20 || whole > 100) {
    throw new MongoError(
      51083,
      `cannot apply ${name} with precision value ${whole} value must be in [-20, 100]`,
    );
  }
  return whole;
}

/** A number rounded to decimal places, by its exact value, in its own type. */
function rounded(
  value: Numeric,
  places: number,
  { name, rounding }: { readonly name: string; readonly rounding: Rounding },
): Numeric {
  const kind = numberKind(value);
  if (kind === 'double' ? !Number.isFinite(toDouble(value)) : toDecimal(value).kind !== 'finite') {
    return value;
  }
  if ((kind === 'int' || kind === 'long') && places >= 0) {
    return value;
  }
  // 34 digits are what MongoDB rounds: the exact value of a double may have more.
  const exact = kind === 'double' ? toDecimal(packDecimal(toExactDecimal(value))) : toDecimal(value);
  const result = packDecimal(quantize(exact, -places, rounding));
  if (kind === 'decimal') {
    return result;
  }
  if (kind === 'double') {
    return asDouble(toDouble(result));
  }
  const integer = toBigInt(result) ?? 0n;
  const fitting = kind === 'long' ? asLong(integer) : asInteger(integer);
  if (fitting === undefined) {
    throw new MongoError(51080, `invalid conversion from Decimal128 result in ${name}`);
  }
  return fitting;
}
