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

/**
 * The compilers of filters and of operators. They are passed as an object, because each needs the
 * other one.
 */
export interface FilterCompiler {
  /** Compiles a filter for a document. */
  filter(filter: Doc): Filter;
  /** Compiles the operators of one field, such as `{$gt: 1, $lt: 5}`. */
  operators(operators: Doc): Predicate;
}

/**
 * True for an object that contains operators, such as `{$gt: 1}`. False for an object that is a
 * value.
 */
export function isOperatorObject(value: unknown): value is Doc {
  return isDoc(value) && keysOf(value)[0]?.startsWith('$') === true && !isDbRef(value);
}

/**
 * Compiles `$elemMatch`: at least one element must meet all conditions. If the operand contains
 * field names, each element is tested as a document. If it contains operators, each element is
 * tested as a value.
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

/**
 * Tests an array element that must be a document. A nested array is treated as a document with the
 * keys 0, 1 and so on.
 */
function documentTest(filter: Filter): ValueTest {
  return (value) => {
    if (Array.isArray(value)) {
      return filter(docOf(value.map((element: unknown, i) => [String(i), element] as const)));
    }
    return isDoc(value) && filter(value);
  };
}

/** Compiles `$all`: the array must contain every listed value. `{$all: []}` matches nothing. */
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

/** Compiles `$size`: the array must have this number of elements. */
export function hasSize(operand: unknown): Predicate {
  const size = isNumeric(operand) ? toDouble(operand) : Number.NaN;
  if (!Number.isInteger(size) || size < 0) {
    throw new MongoError(2, `Failed to parse $size. Expected a non-negative integer`);
  }
  return arrayPredicate((value) => Array.isArray(value) && value.length === size);
}
