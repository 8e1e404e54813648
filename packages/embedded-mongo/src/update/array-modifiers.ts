import { BSONRegExp } from 'bson';
import { MongoError } from '../errors.js';
import { isOperatorObject } from '../query/array-operators.js';
import { compileFilter } from '../query/compile-filter.js';
import { equalValues } from '../values/compare.js';
import { docOf, keysOf } from '../values/fields.js';
import { toDouble } from '../values/numbers.js';
import { isDoc, isNumeric, typeNameOf } from '../values/types.js';
import type { ModifierParser } from './modifier.js';

/**
 * Returns the value if it is an array.
 * @throws MongoError with the given code for any other type. The default is 2 (BadValue).
 */
export function requireArray(value: unknown, operator: string, path: string, code = 2): readonly unknown[] {
  if (!Array.isArray(value)) {
    throw new MongoError(
      code,
      `Cannot apply ${operator} to the field '${path}': it must be an array but is of type ${typeNameOf(value)}`,
    );
  }
  return value;
}

export const addToSet: ModifierParser = (operand) => {
  const additions = addToSetValues(operand);
  const addTo = (array: readonly unknown[]): readonly unknown[] => {
    const result = [...array];
    for (const value of additions) {
      if (!result.some((element) => equalValues(element, value))) {
        result.push(value);
      }
    }
    return result.length === array.length ? array : result;
  };
  return {
    create: () => addTo([]),
    change: (value, { path }) => addTo(requireArray(value, '$addToSet', path)),
  };
};

function addToSetValues(operand: unknown): readonly unknown[] {
  if (!isDoc(operand) || keysOf(operand)[0] !== '$each') {
    return [operand];
  }
  const each = operand['$each'];
  if (!Array.isArray(each)) {
    throw new MongoError(
      14,
      `The argument to $each in $addToSet must be an array but it was ${typeNameOf(each)}`,
    );
  }
  if (keysOf(operand).length > 1) {
    throw new MongoError(2, 'Found unexpected fields after $each in $addToSet');
  }
  return each;
}

export const pop: ModifierParser = (operand) => {
  const side = isNumeric(operand) ? toDouble(operand) : Number.NaN;
  if (side !== 1 && side !== -1) {
    throw new MongoError(9, '$pop expects 1 or -1');
  }
  return {
    change: (value, { path }) => {
      const array = requireArray(value, '$pop', path, 14);
      return side === 1 ? array.slice(0, -1) : array.slice(1);
    },
  };
};

export const pullAll: ModifierParser = (operand) => {
  if (!Array.isArray(operand)) {
    throw new MongoError(2, `$pullAll requires an array argument but was given a ${typeNameOf(operand)}`);
  }
  const values = operand as readonly unknown[];
  return createRemover('$pullAll', (element) => values.some((value) => equalValues(value, element)));
};

export const pull: ModifierParser = (operand) => createRemover('$pull', pullTest(operand));

function createRemover(operator: string, isRemoved: (element: unknown) => boolean) {
  return {
    change: (value: unknown, { path }: { path: string }): unknown => {
      const array = requireArray(value, operator, path);
      const rest = array.filter((element) => !isRemoved(element));
      return rest.length === array.length ? array : rest;
    },
  };
}

/**
 * Operators that begin a filter for a whole document. They have the form of operators that test a
 * single value.
 */
const DOCUMENT_OPERATORS: ReadonlySet<string> = new Set([
  '$and',
  '$or',
  '$nor',
  '$not',
  '$expr',
  '$comment',
  '$where',
]);

/**
 * Compiles the operand of `$pull` into a test for array elements. A plain value must equal the
 * element. Operators and regexes test the element like the value of a field. Any other object is a
 * filter for elements that are documents.
 */
function pullTest(operand: unknown): (element: unknown) => boolean {
  const isRegex = operand instanceof BSONRegExp;
  if (!isDoc(operand) && !isRegex) {
    return (element) => equalValues(element, operand);
  }
  if (isRegex || (isOperatorObject(operand) && !DOCUMENT_OPERATORS.has(keysOf(operand)[0] ?? ''))) {
    const filter = compileFilter(docOf([['element', operand]]));
    return (element) => filter({ element });
  }
  const filter = compileFilter(operand);
  return (element) => isDoc(element) && filter(element);
}
