import { type Decimal128, type Long, Double } from 'bson';
import { compareValues } from './compare.js';
import { keysOf } from './fields.js';
import { BSON, typeOf, type Doc } from './types.js';

/** Whether two values have the same bytes: 1 and 1.0 are equal but not identical, nor are Decimal128 1.0 and 1.00. */
export function identicalValues(a: unknown, b: unknown): boolean {
  if (a === b) {
    // 0 and -0 are the only such pair with different bytes.
    return a !== 0 || 1 / (a as number) === 1 / (b as number);
  }
  const type = typeOf(a);
  if (type !== typeOf(b)) {
    return false;
  }
  switch (type) {
    case BSON.object:
      return identicalDocs(a as Doc, b as Doc);
    case BSON.array:
      return identicalArrays(a as unknown[], b as unknown[]);
    case BSON.decimal:
      return Buffer.compare((a as Decimal128).bytes, (b as Decimal128).bytes) === 0;
    case BSON.double:
      return Object.is(doubleOf(a), doubleOf(b));
    case BSON.long:
      return (a as Long).equals(b as Long);
    default:
      return compareValues(a, b) === 0;
  }
}

function doubleOf(value: unknown): unknown {
  return value instanceof Double ? value.value : value;
}

function identicalDocs(a: Doc, b: Doc): boolean {
  const keysA = keysOf(a);
  const keysB = keysOf(b);
  return (
    keysA.length === keysB.length &&
    keysA.every((key, i) => key === keysB[i] && identicalValues(a[key], b[key]))
  );
}

function identicalArrays(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((element, i) => identicalValues(element, b[i]));
}
