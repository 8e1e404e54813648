import { MongoError } from '../../errors.js';
import { isNumeric, typeNameOf } from '../../values/types.js';
import { integerOf, isNullish } from '../coerce.js';
import { binary, nary, unary, type OperatorCompiler } from '../operator.js';

/** Operators on array values. */
export const arrayOperators: Readonly<Record<string, OperatorCompiler>> = {
  $arrayElemAt: binary(getElement),
  $first: unary((list, name) => getElement(list, 0, name)),
  $last: unary((list, name) => getElement(list, -1, name)),
  $isArray: unary((value) => Array.isArray(value)),
  $size: unary(size),
  $concatArrays: nary({ min: 0, max: Infinity }, concatArrays),
};

function getElement(list: unknown, position: unknown, name: string): unknown {
  if (isNullish(list) || isNullish(position)) {
    return null;
  }
  if (!Array.isArray(list)) {
    throw new MongoError(28689, `${name}'s first argument must be an array, but is ${typeNameOf(list)}`);
  }
  if (!isNumeric(position)) {
    throw new MongoError(28690, `${name}'s second argument must be a number, but is ${typeNameOf(position)}`);
  }
  const index = integerOf(position);
  if (index === undefined) {
    throw new MongoError(28691, `${name}'s second argument must be representable as a 32-bit integer`);
  }
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
