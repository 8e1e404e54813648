import { MongoError } from '../errors.js';
import { docOf, keysOf } from '../values/fields.js';
import { isDoc, isNumeric, type Doc } from '../values/types.js';
import { toDouble } from '../values/numbers.js';
import { implicitlyEqualTo, isDbRef } from './comparison.js';
import {
  and,
  arrayPredicate,
  toValueTest,
  type Filter,
  type Predicate,
  type ValueTest,
} from './predicate.js';

/** The two compilers, which call each other through the operators. */
export interface FilterCompiler {
  /** Compiles the filter of a document. */
  filter(filter: Doc): Filter;
  /** Compiles the operators of one field: `{$gt: 1, $lt: 5}`. */
  operators(operators: Doc): Predicate;
}

/** True for an object of operators such as `{$gt: 1}`, false for an object that is a value. */
export function isOperatorObject(value: unknown): value is Doc {
  return isDoc(value) && keysOf(value)[0]?.startsWith('$') === true && !isDbRef(value);
}

/**
 * `$elemMatch`: one element meets all conditions. Fields test it as a document, operators test it
 * as a value.
 */
export function elementMatches(operand: unknown, compiler: FilterCompiler): Predicate {
  if (!isDoc(operand)) {
    throw new MongoError(2, '$elemMatch needs an Object');
  }
  const first = keysOf(operand)[0];
  const isLogical = first === '$and' || first === '$or' || first === '$nor';
  const test: ValueTest =
    isOperatorObject(operand) && !isLogical
      ? toValueTest(compiler.operators(operand))
      : documentTest(compiler.filter(operand));
  const locate = (value: unknown): number =>
    Array.isArray(value) ? value.findIndex((element: unknown) => test(element, true)) : -1;
  return { kind: 'value', wholeArrays: true, test: (value) => locate(value) >= 0, locate };
}

/** A nested array is matched like a document with the keys 0, 1, ... */
function documentTest(filter: Filter): ValueTest {
  return (value) => {
    if (Array.isArray(value)) {
      return filter(docOf(value.map((element: unknown, i) => [String(i), element] as const)));
    }
    return isDoc(value) && filter(value);
  };
}

/** `$all`: every listed value is present. `[]` matches nothing. */
export function containsAll(operand: unknown, compiler: FilterCompiler): Predicate {
  if (!Array.isArray(operand)) {
    throw new MongoError(2, '$all needs an array');
  }
  const elements = operand as readonly unknown[];
  if (elements.length === 0) {
    return arrayPredicate(() => false);
  }
  const isElemMatch = (element: unknown): boolean => isDoc(element) && keysOf(element)[0] === '$elemMatch';
  if (isElemMatch(elements[0])) {
    return and(
      elements.map((element) => {
        if (!isDoc(element) || !isElemMatch(element)) {
          throw new MongoError(2, '$all/$elemMatch has to be consistent');
        }
        return elementMatches(element['$elemMatch'], compiler);
      }),
    );
  }
  return and(
    elements.map((element) => {
      if (isOperatorObject(element)) {
        throw new MongoError(2, 'no $ expressions in $all');
      }
      return implicitlyEqualTo(element);
    }),
  );
}

/** `$size`: the length of the array. */
export function hasSize(operand: unknown): Predicate {
  const size = isNumeric(operand) ? toDouble(operand) : Number.NaN;
  if (!Number.isInteger(size) || size < 0) {
    throw new MongoError(2, `Failed to parse $size. Expected a non-negative integer`);
  }
  return arrayPredicate((value) => Array.isArray(value) && value.length === size);
}
