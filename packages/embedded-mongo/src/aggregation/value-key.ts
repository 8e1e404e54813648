import { Decimal128, Double, Long } from 'bson';
import { compareValues } from '../values/compare.js';
import { keyString } from '../values/key-string.js';
import { toDouble } from '../values/numbers.js';

/**
 * Returns a key for a Map or Set. Two keys are equal if and only if MongoDB considers the values
 * equal, such as 1, 1.0 and Decimal128 1.00.
 */
export function valueKey(value: unknown): unknown {
  switch (typeof value) {
    case 'number':
    case 'boolean':
    case 'undefined':
      return value;
    case 'string':
      // The prefix distinguishes strings from key strings, which begin with a type character below
      // 's'.
      return `s${value}`;
    default:
      break;
  }
  if (value === null) {
    return null;
  }
  if (value instanceof Double) {
    return value.value;
  }
  if (value instanceof Long || value instanceof Decimal128) {
    const double = toDouble(value);
    // Like MongoDB, a Map treats NaN as equal to itself and -0 as equal to 0.
    return Number.isNaN(double) || compareValues(double, value) === 0 ? double : keyString(value);
  }
  return keyString(value);
}
