import { BSONRegExp } from 'bson';
import { MongoError } from '../errors.js';
import { isOperatorObject } from '../query/array-operators.js';
import { compileFilter } from '../query/compile-filter.js';
import { equalValues } from '../values/compare.js';
import { keysOf } from '../values/fields.js';
import { splitPath } from '../values/paths.js';
import { isDoc, type Doc } from '../values/types.js';
import { Draft, type DraftLocation } from './draft.js';

/**
 * Builds the initial document of an upsert. It contains the fields for which the filter requires a
 * single value, in the order of their paths.
 * @throws MongoError 54 if two conditions set the same path, or a path and another one below it.
 * 224 if the filter contains `$expr`.
 */
export function buildUpsertDocument(filter: Doc): Doc {
  compileFilter(filter, { upsert: true });
  const equalities: (readonly [string, unknown])[] = [];
  collect(filter, equalities);
  equalities.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const draft = new Draft({});
  const paths = new Set<string>();
  for (const [path, value] of equalities) {
    checkPath(path, paths);
    let missing = splitPath(path);
    let place: DraftLocation = draft.root;
    for (;;) {
      const child = draft.child(place, missing[0] ?? '');
      if (child === undefined) {
        break;
      }
      place = child;
      missing = missing.slice(1);
    }
    draft.create(place, missing, value);
  }
  return draft.doc;
}

function checkPath(path: string, paths: Set<string>): void {
  for (const other of paths) {
    if (path === other || path.startsWith(`${other}.`) || other.startsWith(`${path}.`)) {
      throw new MongoError(
        54,
        `cannot infer query fields to set, both paths '${other}' and '${path}' are matched`,
      );
    }
  }
  paths.add(path);
}

function collect(filter: Doc, equalities: (readonly [string, unknown])[]): void {
  for (const key of keysOf(filter)) {
    const condition = filter[key];
    if (key === '$and' || key === '$or') {
      const branches: readonly unknown[] = Array.isArray(condition) ? condition : [];
      if (key === '$and' || branches.length === 1) {
        branches.filter(isDoc).forEach((branch) => collect(branch, equalities));
      }
    } else if (!key.startsWith('$')) {
      fixedValues(condition).forEach((value) => equalities.push([key, value]));
    }
  }
}

/**
 * Returns the values that a condition requires of a field. An equality requires one value. If there
 * are several values, `checkPath` refuses the filter.
 */
function fixedValues(condition: unknown): readonly unknown[] {
  if (!isOperatorObject(condition)) {
    return condition instanceof BSONRegExp ? [] : [condition];
  }
  return keysOf(condition).flatMap((operator) => {
    const operand = condition[operator];
    if (operator === '$eq') {
      return [operand];
    }
    if (operator === '$in' && isOneValue(operand)) {
      return operand.slice(0, 1);
    }
    return operator === '$all' && Array.isArray(operand)
      ? (operand as readonly unknown[]).filter(isPlainValue)
      : [];
  });
}

function isOneValue(list: unknown): list is readonly unknown[] {
  if (!Array.isArray(list)) {
    return false;
  }
  const [first, ...rest] = list as readonly unknown[];
  return list.length > 0 && isPlainValue(first) && rest.every((value) => equalValues(value, first));
}

function isPlainValue(value: unknown): boolean {
  return !(value instanceof BSONRegExp) && !isOperatorObject(value);
}
