import { BSONRegExp } from 'bson';
import { keysOf } from '../values/fields.js';
import { BSON, isDoc, typeOf, type Doc } from '../values/types.js';
import { isOperatorObject } from './array-operators.js';

/**
 * Conditions at one path that every matching document meets. Each list entry applies on its own. In
 * an array, different elements may meet different entries, so a multikey index can use only one of
 * them.
 */
export interface PathBounds {
  /**
   * For each entry, a value at the path equals one of the listed values. Null also represents a
   * missing field.
   */
  readonly equal: (readonly unknown[])[];
  /** For each entry, a value at the path is above the bound and has the same type rank. */
  readonly lower: RangeBound[];
  /** For each entry, a value at the path is below the bound and has the same type rank. */
  readonly upper: RangeBound[];
  /** True if every matching document has the field. A sparse index may then be used. */
  exists: boolean;
}

export interface RangeBound {
  readonly value: unknown;
  readonly inclusive: boolean;
}

/**
 * Returns the bounds of each path. Only the conditions that are combined with "and" are considered.
 * The filter must be valid.
 */
export function filterBounds(filter: Doc): ReadonlyMap<string, PathBounds> {
  const bounds = new Map<string, PathBounds>();
  collect(filter, '', bounds);
  return bounds;
}

function collect(filter: Doc, prefix: string, bounds: Map<string, PathBounds>): void {
  for (const key of keysOf(filter)) {
    const condition = filter[key];
    if (key === '$and' && Array.isArray(condition)) {
      for (const branch of condition as readonly unknown[]) {
        if (isDoc(branch)) {
          collect(branch, prefix, bounds);
        }
      }
    } else if (!key.startsWith('$')) {
      collectField(prefix + key, condition, bounds);
    }
  }
}

function collectField(path: string, condition: unknown, bounds: Map<string, PathBounds>): void {
  let entry = bounds.get(path);
  if (entry === undefined) {
    entry = { equal: [], lower: [], upper: [], exists: false };
    bounds.set(path, entry);
  }
  if (!isOperatorObject(condition)) {
    if (condition instanceof BSONRegExp) {
      entry.exists = true;
    } else {
      addEqual(entry, [condition]);
    }
    return;
  }
  for (const operator of keysOf(condition)) {
    collectOperator(path, operator, condition[operator], entry, bounds);
  }
}

function collectOperator(
  path: string,
  operator: string,
  operand: unknown,
  entry: PathBounds,
  bounds: Map<string, PathBounds>,
): void {
  switch (operator) {
    case '$eq':
      addEqual(entry, [operand]);
      return;
    case '$in':
      if (Array.isArray(operand)) {
        addEqual(entry, operand);
      }
      return;
    case '$all':
      if (Array.isArray(operand)) {
        for (const element of operand as readonly unknown[]) {
          if (!isOperatorObject(element)) {
            addEqual(entry, [element]);
          }
        }
      }
      return;
    case '$gt':
    case '$gte':
      addRange(entry, entry.lower, { value: operand, inclusive: operator === '$gte' });
      return;
    case '$lt':
    case '$lte':
      addRange(entry, entry.upper, { value: operand, inclusive: operator === '$lte' });
      return;
    case '$elemMatch':
      entry.exists = true;
      if (isDoc(operand) && !isOperatorObject(operand)) {
        collect(operand, `${path}.`, bounds);
      }
      return;
    case '$exists':
      entry.exists ||= operand === true || operand === 1;
      return;
    case '$regex':
    case '$type':
    case '$size':
    case '$mod':
      entry.exists = true;
      return;
    default:
  }
}

/** False for arrays and regexes, which cannot be found by a single index key. */
function isKey(value: unknown): boolean {
  const type = typeOf(value);
  return type !== BSON.array && type !== BSON.regex;
}

function addEqual(entry: PathBounds, values: readonly unknown[]): void {
  if (!values.includes(null)) {
    entry.exists = true;
  }
  if (values.every(isKey)) {
    entry.equal.push(values);
  }
}

function addRange(entry: PathBounds, ranges: RangeBound[], bound: RangeBound): void {
  const type = typeOf(bound.value);
  if (type === BSON.null) {
    // `$gte: null` means equality with null. `$gt: null` matches nothing, so it needs no index.
    if (bound.inclusive) {
      entry.equal.push([null]);
    }
    return;
  }
  // A missing field also matches a comparison with MinKey or MaxKey. With any other operand, the
  // field must exist.
  if (type !== BSON.minKey && type !== BSON.maxKey) {
    entry.exists = true;
    if (isKey(bound.value)) {
      ranges.push(bound);
    }
  }
}
