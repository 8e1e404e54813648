import { MongoError } from '../../errors.js';
import { compareValues } from '../../values/compare.js';
import { toDouble } from '../../values/numbers.js';
import { isDoc, isNumeric, typeNameOf } from '../../values/types.js';
import { isNullish } from '../coerce.js';
import { combine, namedArguments } from '../operator.js';
import type { Expression, OperatorCall } from '../operator.js';
import { compileSort } from '../sort-pattern.js';

/** `$sortArray`: by whole values (`sortBy: 1`) or by fields of the elements. */
export function compileSortArray(argument: unknown, call: OperatorCall): Expression {
  const parts = new Map(
    namedArguments(argument, call, {
      keys: ['input', 'sortBy'],
      required: { input: 2942502, sortBy: 2942503 },
      notObject: 2942500,
      unknownKey: 2942501,
    }),
  );
  const input = call.compile(parts.get('input'));
  const sort = sorter(parts.get('sortBy'));
  return combine([input], (root) => {
    const list = input.evaluate(root);
    if (isNullish(list)) {
      return null;
    }
    if (!Array.isArray(list)) {
      throw new MongoError(
        2942504,
        `The input argument to $sortArray must be an array, but was of type: ${typeNameOf(list)}`,
      );
    }
    return sort(list);
  });
}

/** Sorts a list by a `sortBy`: ±1 or a sort document. */
function sorter(sortBy: unknown): (list: readonly unknown[]) => unknown[] {
  if (isDoc(sortBy)) {
    const pattern = compileSort(sortBy);
    return (list) =>
      list
        .map((value) => ({ value, key: pattern.keyOf(value) }))
        .sort((left, right) => pattern.compare(left.key, right.key))
        .map(({ value }) => value);
  }
  const sign = isNumeric(sortBy) ? toDouble(sortBy) : 0;
  if (sign !== 1 && sign !== -1) {
    throw new MongoError(2942506, 'The $sort element value must be either 1 or -1');
  }
  return (list) => list.toSorted((left, right) => compareValues(left, right) * sign);
}
