import { encode } from './encode.js';

/**
 * True if two values have the same bytes. 1 and 1.0 are equal but not identical, nor are Decimal128
 * 1.0 and 1.00.
 */
export function hasIdenticalBytes(a: unknown, b: unknown): boolean {
  return (
    Object.is(a, b) || (hasOwnBytes(a) && hasOwnBytes(b) && encode({ value: a }).equals(encode({ value: b })))
  );
}

/**
 * True for documents, arrays and BSON classes. Other values are identical in JS exactly if their
 * bytes are.
 */
function hasOwnBytes(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
