import { MongoError } from '../errors.js';
import { toDouble } from '../values/numbers.js';
import { isNumeric } from '../values/types.js';

/**
 * Compiles `$slice` of a projection. A value that is not an array stays unchanged.
 * @throws MongoError 28667 or 28724 if the argument is invalid.
 */
export function parseSlice(argument: unknown): (value: unknown) => unknown {
  if (isNumeric(argument)) {
    const count = Math.trunc(toDouble(argument)) || 0;
    return onArray((array) => (count >= 0 ? array.slice(0, count) : array.slice(count)));
  }
  if (!Array.isArray(argument)) {
    throw new MongoError(28667, '$slice only supports numbers and [skip, limit] arrays');
  }
  const [skip, limit] = argument as readonly unknown[];
  if (argument.length !== 2 || !isNumeric(skip) || !isNumeric(limit)) {
    throw new MongoError(28724, '$slice array argument should be of form [skip, limit]');
  }
  const from = Math.trunc(toDouble(skip)) || 0;
  const count = Math.trunc(toDouble(limit)) || 0;
  if (count <= 0) {
    throw new MongoError(28724, '$slice limit must be positive');
  }
  return onArray((array) => {
    const start = from < 0 ? Math.max(0, array.length + from) : from;
    return array.slice(start, start + count);
  });
}

function onArray(slice: (array: readonly unknown[]) => unknown) {
  return (value: unknown): unknown => (Array.isArray(value) ? slice(value) : value);
}
