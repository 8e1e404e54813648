import { MongoError } from '../errors.js';
import { compareValues } from '../values/compare.js';
import { keysOf } from '../values/fields.js';
import { toDouble } from '../values/numbers.js';
import { indexOf } from '../values/paths.js';
import { isDoc, isNumeric, typeNameOf, type Doc } from '../values/types.js';
import { fieldReader, parsePath } from './field-path.js';

/** A compiled sort: the key of a document, and the order of two keys. */
export interface SortPattern {
  readonly keyOf: (value: unknown) => readonly unknown[];
  readonly compare: (left: readonly unknown[], right: readonly unknown[]) => number;
}

interface SortField {
  readonly parts: readonly string[];
  readonly readers: readonly ((document: Doc) => unknown)[];
  readonly sign: 1 | -1;
}

/** Compiles `{a: 1, 'b.c': -1}`. Errors 15973, 15974, 15975, 15976 and those of paths. */
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
  return { keyOf: (document) => sortKey(document, fields, compare), compare };
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
  const parts = parsePath(path);
  return { parts, readers: parts.map(fieldReader), sign: whole };
}

/** How far a field's path has been followed: `at` parts are behind, `value` is what is there. */
interface Step {
  readonly value: unknown;
  readonly at: number;
}

/**
 * The values that a document sorts by: of arrays the element that comes first in the sort, taken together
 * by fields that go through one array; an empty array is `undefined`, below null. Error 2 if two fields
 * go through different arrays.
 */
function sortKey(
  document: unknown,
  fields: readonly SortField[],
  compare: SortPattern['compare'],
): unknown[] {
  const steps = fields.map((field) => follow({ value: document, at: 0 }, field));
  if (!steps.some((step) => Array.isArray(step.value))) {
    return steps.map((step) => step.value ?? null);
  }
  const keys: unknown[][] = [];
  expand(steps, fields, keys);
  return keys.reduce((best, key) => (compare(key, best) < 0 ? key : best));
}

/** Follows a path through documents, and into arrays by position, up to the end or to an array. */
function follow({ value, at }: Step, { parts, readers }: SortField): Step {
  let current = value;
  for (let index = at; index < parts.length; index++) {
    if (isDoc(current)) {
      current = readers[index]?.(current);
    } else if (Array.isArray(current)) {
      const position = indexOf(parts[index] ?? '');
      if (position < 0 || position >= current.length) {
        return { value: current, at: index };
      }
      current = current[position];
    } else {
      return { value: null, at: parts.length };
    }
  }
  return { value: current, at: parts.length };
}

function expand(steps: readonly Step[], fields: readonly SortField[], keys: unknown[][]): void {
  const array = steps.find((step) => Array.isArray(step.value))?.value as unknown[] | undefined;
  if (array === undefined) {
    keys.push(steps.map(({ value }) => (value instanceof Leaf ? value.value : (value ?? null))));
    return;
  }
  if (steps.some((step) => Array.isArray(step.value) && step.value !== array)) {
    throw new MongoError(2, 'cannot sort with keys that are parallel arrays');
  }
  for (const element of array.length === 0 ? [undefined] : array) {
    const next = steps.map((step, index) => {
      const field = fields[index];
      return step.value === array && field !== undefined ? enter(element, step, field) : step;
    });
    expand(next, fields, keys);
  }
}

/** A value at the end of a path, which is not opened further though it may be an array. */
class Leaf {
  constructor(readonly value: unknown) {}
}

function enter(element: unknown, { at }: Step, field: SortField): Step {
  if (at === field.parts.length) {
    return { value: new Leaf(element), at };
  }
  // An array in an array is entered by position only.
  return isDoc(element) ? follow({ value: element, at }, field) : { value: null, at: field.parts.length };
}
