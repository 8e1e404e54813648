import { MongoError } from '../errors.js';
import { compareValues } from '../values/compare.js';
import { keysOf } from '../values/fields.js';
import { keyTuples, MISSING } from '../values/key-tuples.js';
import { toDouble } from '../values/numbers.js';
import { isDoc, isNumeric, typeNameOf, type Doc } from '../values/types.js';
import { parsePath } from './field-path.js';

/** A compiled sort. It builds the sort key of a document and compares two sort keys. */
export interface SortPattern {
  readonly keyOf: (document: Doc) => readonly unknown[];
  readonly compare: (left: readonly unknown[], right: readonly unknown[]) => number;
}

interface SortField {
  readonly parts: readonly string[];
  readonly sign: 1 | -1;
}

/**
 * Compiles a sort such as `{a: 1, 'b.c': -1}`.
 * @throws MongoError 15973 to 15976 for an invalid specification, 238 for `$meta`, 17312 for any
 * other expression, and the errors of paths.
 */
export function compileSort(specification: unknown): SortPattern {
  if (!isDoc(specification)) {
    throw new MongoError(15973, 'the $sort key specification must be an object');
  }
  const fields = keysOf(specification).map((path) => sortField(path, specification[path]));
  if (fields.length === 0) {
    throw new MongoError(15976, '$sort stage must have at least one sort key');
  }
  const compare: SortPattern['compare'] = (left, right) => {
    for (let index = 0; index < fields.length; index++) {
      const order = compareValues(left[index], right[index]);
      if (order !== 0) {
        return fields[index]?.sign === 1 ? order : -order;
      }
    }
    return 0;
  };
  const paths = fields.map(({ parts }) => parts);
  return { keyOf: (document) => sortKey(document, paths, compare), compare };
}

function sortField(path: string, direction: unknown): SortField {
  if (isDoc(direction)) {
    const name = keysOf(direction)[0] ?? '';
    throw name === '$meta'
      ? new MongoError(238, '$meta sort keys are not supported by embedded-mongo')
      : new MongoError(17312, '$meta is the only expression supported by $sort right now');
  }
  if (!isNumeric(direction)) {
    throw new MongoError(15974, `Illegal key in $sort specification: ${path}: ${typeNameOf(direction)}`);
  }
  const whole = Math.trunc(toDouble(direction));
  if (whole !== 1 && whole !== -1) {
    throw new MongoError(15975, '$sort key ordering must be 1 (for ascending) or -1 (for descending)');
  }
  return { parts: parsePath(path), sign: whole };
}

/**
 * Returns the values by which a document is sorted. An array is represented by the element that
 * sorts first. Fields below the same array are taken from the same element. An empty array is
 * represented by `undefined`, which sorts before null.
 * @throws MongoError 2 if two fields have different arrays on their paths.
 */
function sortKey(
  document: Doc,
  paths: readonly (readonly string[])[],
  compare: SortPattern['compare'],
): readonly unknown[] {
  return keyTuples(paths, document, { parallelArrays: createParallelArraysError })
    .map((key) => key.map((value) => (value === MISSING ? null : value)))
    .reduce((best, key) => (compare(key, best) < 0 ? key : best));
}

function createParallelArraysError(): MongoError {
  return new MongoError(2, 'cannot sort with keys that are parallel arrays');
}
