import { MongoError } from '../../errors.js';
import { typeNameOf } from '../../values/types.js';
import { isNullish } from '../coerce.js';
import { int32Argument } from '../arguments.js';
import { binary, nary, unary, type OperatorCompiler } from '../operator.js';

/** Operators on arrays, as values. */
export const arrayOperators: Readonly<Record<string, OperatorCompiler>> = {
  $arrayElemAt: binary((list, index, name) => elementAt(list, index, name)),
  $first: unary((list, name) => elementAt(list, 0, name)),
  $last: unary((list, name) => elementAt(list, -1, name)),
  $isArray: unary((value) => Array.isArray(value)),
  $size: unary(size),
  $slice: nary({ min: 2, max: 3 }, slice),
  $concatArrays: nary({ min: 0, max: Infinity }, concatArrays),
};

function elementAt(list: unknown, position: unknown, name: string): unknown {
  if (isNullish(list) || isNullish(position)) {
    return null;
  }
  if (!Array.isArray(list)) {
    throw new MongoError(28689, `${name}'s first argument must be an array, but is ${typeNameOf(list)}`);
  }
  const index = int32Argument(position, {
    notNumber: 28690,
    notInteger: 28691,
    what: `${name}'s second argument`,
  });
  return list.at(index);
}

function size(list: unknown): number {
  if (!Array.isArray(list)) {
    throw new MongoError(
      17124,
      `The argument to $size must be an array, but was of type: ${typeNameOf(list)}`,
    );
  }
  return list.length;
}

function slice([list, second, third]: unknown[], name: string): unknown {
  if (isNullish(list) || isNullish(second)) {
    return null;
  }
  if (!Array.isArray(list)) {
    throw new MongoError(
      28724,
      `First argument to $slice must be an array, but is of type: ${typeNameOf(list)}`,
    );
  }
  const first = int32Argument(second, {
    notNumber: 28725,
    notInteger: 28726,
    what: `Second argument to ${name}`,
  });
  if (third === undefined) {
    return first >= 0 ? list.slice(0, first) : list.slice(first);
  }
  if (third === null) {
    return null;
  }
  const count = int32Argument(third, {
    notNumber: 28727,
    notInteger: 28728,
    what: `Third argument to ${name}`,
  });
  if (count <= 0) {
    throw new MongoError(28729, `Third argument to $slice must be positive: ${count}`);
  }
  const start = first < 0 ? Math.max(0, list.length + first) : first;
  return list.slice(start, start + count);
}

function concatArrays(lists: unknown[], name: string): unknown {
  const joined: unknown[][] = [];
  for (const list of lists) {
    if (isNullish(list)) {
      return null;
    }
    if (!Array.isArray(list)) {
      throw new MongoError(28664, `${name} only supports arrays, not ${typeNameOf(list)}`);
    }
    joined.push(list);
  }
  return joined.flat(1);
}
