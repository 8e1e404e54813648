import { encode } from './encode.js';

/**
 * True if two values have the same BSON encoding. 1 and 1.0 are equal but not identical, as are
 * Decimal128 1.0 and 1.00.
 */
export function hasIdenticalBytes(a: unknown, b: unknown): boolean {
  return (
    Object.is(a, b) || (hasOwnBytes(a) && hasOwnBytes(b) && encode({ value: a }).equals(encode({ value: b })))
  );
}

/**
 * True for documents, arrays and BSON classes, whose encodings must be compared. Any other values
 * have the same encoding exactly if they are identical in JS.
 */
function hasOwnBytes(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
