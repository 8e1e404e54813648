import { MongoError } from '../../errors.js';
import { typeNameOf } from '../../values/types.js';
import { isNullish, isTrue } from '../coerce.js';
import { compareValues } from '../../values/compare.js';
import { binary, nary, unary } from '../operator.js';
import type { OperatorCompiler } from '../operator.js';
import { valueKey } from '../value-key.js';

/** Set operators on arrays. Results of union and intersection come in the order of values, as in MongoDB. */
export const setOperators: Readonly<Record<string, OperatorCompiler>> = {
  $setUnion: nary({ min: 0, max: Infinity }, setUnion),
  $setIntersection: nary({ min: 0, max: Infinity }, setIntersection),
  $setDifference: binary(setDifference),
  $setEquals: nary({ min: 2, max: Infinity }, setEquals),
  $setIsSubset: binary(setIsSubset),
  $allElementsTrue: unary((list) => elements(list, 17040, '$allElementsTrue').every(isTrue)),
  $anyElementTrue: unary((list) => elements(list, 17041, '$anyElementTrue').some(isTrue)),
};

function elements(list: unknown, code: number, name: string): unknown[] {
  if (!Array.isArray(list)) {
    throw new MongoError(code, `${name}'s argument must be an array, but is ${typeNameOf(list)}`);
  }
  return list;
}

const keysOfSet = (list: readonly unknown[]): Set<unknown> => new Set(list.map(valueKey));

/** The distinct values, the first of equal ones, in the order of values. */
function sortedDistinct(list: readonly unknown[]): unknown[] {
  const seen = new Map<unknown, unknown>();
  for (const value of list) {
    const key = valueKey(value);
    if (!seen.has(key)) {
      seen.set(key, value);
    }
  }
  return [...seen.values()].sort(compareValues);
}

function setUnion(lists: unknown[]): unknown[] | null {
  const all: unknown[][] = [];
  for (const list of lists) {
    if (isNullish(list)) {
      return null;
    }
    all.push(elements(list, 17043, '$setUnion'));
  }
  return sortedDistinct(all.flat(1));
}

function setIntersection(lists: unknown[]): unknown[] | null {
  let common: unknown[] | undefined;
  for (const list of lists) {
    if (isNullish(list)) {
      return null;
    }
    const next = elements(list, 17047, '$setIntersection');
    if (common === undefined) {
      common = next;
    } else {
      const keys = keysOfSet(next);
      common = common.filter((value) => keys.has(valueKey(value)));
    }
  }
  return sortedDistinct(common ?? []);
}

function setDifference(left: unknown, right: unknown): unknown[] | null {
  if (isNullish(left) || isNullish(right)) {
    return null;
  }
  const first = elements(left, 17048, '$setDifference');
  const seen = keysOfSet(elements(right, 17049, '$setDifference'));
  return first.filter((value) => {
    const key = valueKey(value);
    return !seen.has(key) && seen.add(key).has(key);
  });
}

function setEquals(lists: unknown[]): boolean {
  const [first = new Set(), ...others] = lists.map((list) => keysOfSet(elements(list, 17044, '$setEquals')));
  return others.every((keys) => keys.size === first.size && [...keys].every((key) => first.has(key)));
}

function setIsSubset(left: unknown, right: unknown): boolean {
  const inner = elements(left, 17046, '$setIsSubset');
  const keys = keysOfSet(elements(right, 17042, '$setIsSubset'));
  return inner.every((value) => keys.has(valueKey(value)));
}
