import { MongoError } from '../errors.js';
import { compareValues } from '../values/compare.js';
import { getField, keysOf } from '../values/fields.js';
import { toDouble } from '../values/numbers.js';
import { parseArrayIndex, splitPath } from '../values/paths.js';
import { isDoc, isNumeric, typeNameOf, type Doc } from '../values/types.js';
import { requireArray } from './array-modifiers.js';
import type { ModifierParser } from './modifier.js';

interface Push {
  readonly values: readonly unknown[];
  readonly position: number | undefined;
  readonly slice: number | undefined;
  readonly compare: ((a: unknown, b: unknown) => number) | undefined;
}

export const push: ModifierParser = (operand) => {
  const options = parsePush(operand);
  return {
    create: () => pushTo([], options),
    change: (value, { path }) => pushTo(requireArray(value, '$push', path), options),
    countsCopies: true,
  };
};

const CLAUSES: ReadonlySet<string> = new Set(['$each', '$slice', '$sort', '$position']);

function parsePush(operand: unknown): Push {
  if (!isDoc(operand) || !Object.hasOwn(operand, '$each')) {
    return { values: [operand], position: undefined, slice: undefined, compare: undefined };
  }
  const { $each: each, $slice: slice, $sort: sort, $position: position } = operand;
  if (!Array.isArray(each)) {
    throw new MongoError(
      2,
      `The argument to $each in $push must be an array but it was of type ${typeNameOf(each)}`,
    );
  }
  const unknownClause = keysOf(operand).find((key) => !CLAUSES.has(key));
  if (unknownClause !== undefined) {
    throw new MongoError(2, `Unrecognized clause in $push: ${unknownClause}`);
  }
  return {
    values: each,
    position: integerClause('$position', position),
    slice: integerClause('$slice', slice),
    compare: sort === undefined ? undefined : sortClause(sort),
  };
}

function integerClause(name: string, value: unknown): number | undefined {
  if (value === undefined) {
    return undefined;
  }
  const integer = isNumeric(value) ? toDouble(value) : Number.NaN;
  if (!Number.isInteger(integer)) {
    throw new MongoError(
      2,
      `The value for ${name} must be an integer value but was given type ${typeNameOf(value)}`,
    );
  }
  return integer;
}

function sortClause(sort: unknown): (a: unknown, b: unknown) => number {
  if (!isDoc(sort)) {
    const direction = directionOf(sort);
    return (a, b) => compareValues(a, b) * direction;
  }
  const fields = keysOf(sort).map((path) => {
    const parts = splitPath(path);
    if (parts.includes('')) {
      throw new MongoError(2, `The $sort field is a dotted field but has an empty part: ${path}`);
    }
    return { parts, direction: directionOf(sort[path]) };
  });
  if (fields.length === 0) {
    throw new MongoError(2, 'The $sort pattern is empty when it should be a set of fields');
  }
  return (a, b) => {
    for (const { parts, direction } of fields) {
      const order = compareValues(sortKey(a, parts), sortKey(b, parts)) * direction;
      if (order !== 0) {
        return order;
      }
    }
    return 0;
  };
}

function directionOf(value: unknown): number {
  const direction = isNumeric(value) ? toDouble(value) : 0;
  if (direction !== 1 && direction !== -1) {
    throw new MongoError(2, 'The $sort element value must be either 1 or -1');
  }
  return direction;
}

/** Returns the value at a path. Null if it is missing, or if the element is not an object. */
function sortKey(element: unknown, parts: readonly string[]): unknown {
  let value = isDoc(element) ? element : {};
  for (const [i, part] of parts.entries()) {
    const next: unknown = Array.isArray(value) ? value[parseArrayIndex(part)] : getField(value, part);
    if (i === parts.length - 1) {
      return next ?? null;
    }
    if (!isDoc(next) && !Array.isArray(next)) {
      return null;
    }
    value = next as Doc;
  }
  return null;
}

/** Applies `$push`. Returns the same array if no element is added, sorted or removed. */
function pushTo(array: readonly unknown[], { values, position, slice, compare }: Push): readonly unknown[] {
  const isSorted = compare !== undefined && array.length > 0;
  const isCut = slice !== undefined && array.length > Math.abs(slice);
  if (values.length === 0 && !isSorted && !isCut) {
    return array;
  }
  const result = [...array];
  const at = position ?? result.length;
  result.splice(at < 0 ? Math.max(0, result.length + at) : at, 0, ...values);
  if (compare !== undefined) {
    result.sort(compare);
  }
  if (slice === undefined) {
    return result;
  }
  return slice >= 0 ? result.slice(0, slice) : result.slice(slice);
}
