import { Decimal128, Double, Long } from 'bson';
import { compareValues } from '../values/compare.js';
import { keyString } from '../values/key-string.js';
import { toDouble } from '../values/numbers.js';

/**
 * A key for Map and Set. Two keys are equal exactly if MongoDB considers the values equal (1, 1.0
 * and Decimal128 1.00).
 */
export function valueKey(value: unknown): unknown {
  switch (typeof value) {
    case 'number':
    case 'boolean':
    case 'undefined':
      return value;
    case 'string':
      // The prefix cannot collide: key strings begin with type characters, all below 's'.
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
    // A Map treats NaN as equal to itself and -0 as 0, as MongoDB does.
    return Number.isNaN(double) || compareValues(double, value) === 0 ? double : keyString(value);
  }
  return keyString(value);
}
