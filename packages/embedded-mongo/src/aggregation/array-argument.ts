import { MongoError } from '../errors.js';
import { typeNameOf } from '../values/types.js';
import { isNullish } from './coerce.js';

/** An array, or null for null and missing; anything else is the operator's error. */
export function arrayOrNull(value: unknown, code: number, what: string): unknown[] | null {
  if (isNullish(value)) {
    return null;
  }
  if (!Array.isArray(value)) {
    throw new MongoError(code, `${what} must be an array not ${typeNameOf(value)}`);
  }
  return value as unknown[];
}
