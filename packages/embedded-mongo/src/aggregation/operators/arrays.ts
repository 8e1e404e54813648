import { MongoError } from '../../errors.js';
import { typeNameOf } from '../../values/types.js';
import { isNullish } from '../coerce.js';
import { compareValues } from '../../values/compare.js';
import { indexArgument, int32Argument } from '../integer-argument.js';
import { nOfArray } from '../n-and-input.js';
import { arrayOrNull } from '../array-argument.js';
import { binary, nary, unary } from '../operator.js';
import type { OperatorCompiler } from '../operator.js';
import { compileSortArray } from './sort-array.js';
import { compileZip } from './zip.js';

/** Operators on arrays, as values. */
export const arrayOperators: Readonly<Record<string, OperatorCompiler>> = {
  $arrayElemAt: binary((list, index, name) => elementAt(list, index, name)),
  $first: unary((list, name) => elementAt(list, 0, name)),
  $last: unary((list, name) => elementAt(list, -1, name)),
  $isArray: unary((value) => Array.isArray(value)),
  $size: unary(size),
  $slice: nary({ min: 2, max: 3 }, slice),
  $concatArrays: nary({ min: 0, max: Infinity }, concatArrays),
  $reverseArray: unary(
    (list) => arrayOrNull(list, 34435, 'The argument to $reverseArray')?.toReversed() ?? null,
  ),
  $indexOfArray: nary({ min: 2, max: 4 }, indexOfArray),
  $range: nary({ min: 2, max: 3 }, range),
  $zip: compileZip,
  $sortArray: compileSortArray,
  $firstN: nOfArray((list, n) => list.slice(0, n)),
  $lastN: nOfArray((list, n) => list.slice(-n)),
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

const indexOfArrayRule = { name: '$indexOfArray', notInteger: 40096, negative: 40097 };

function indexOfArray([list, sought, from, to]: unknown[]): unknown {
  const elements = arrayOrNull(list, 40090, '$indexOfArray: the first argument');
  if (elements === null) {
    return null;
  }
  const start = from === undefined ? 0 : indexArgument(from, indexOfArrayRule);
  const end = to === undefined ? elements.length : indexArgument(to, indexOfArrayRule);
  for (let index = start; index < Math.min(end, elements.length); index++) {
    if (compareValues(elements[index], sought) === 0) {
      return index;
    }
  }
  return -1;
}

const rangeElementsMax = 5_000_000;

function range([from, to, by]: unknown[]): number[] {
  const start = int32Argument(from, {
    notNumber: 34443,
    notInteger: 34444,
    what: '$range: the starting value',
  });
  const end = int32Argument(to, { notNumber: 34445, notInteger: 34446, what: '$range: the ending value' });
  const step =
    by === undefined
      ? 1
      : int32Argument(by, { notNumber: 34447, notInteger: 34448, what: '$range: the step' });
  if (step === 0) {
    throw new MongoError(34449, '$range requires a non-zero step value');
  }
  const length = Math.max(0, Math.ceil((end - start) / step));
  if (length > rangeElementsMax) {
    throw new MongoError(146, '$range would use too much memory and cannot spill to disk');
  }
  return Array.from({ length }, (_, index) => start + index * step);
}
