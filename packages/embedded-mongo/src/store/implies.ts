import { compileFilter } from '../query/compile-filter.js';
import type { PathBounds, RangeBound } from '../query/filter-bounds.js';
import { compareValues, equalValues } from '../values/compare.js';
import { keysOf } from '../values/fields.js';
import { typePrefix } from '../values/key-string.js';
import { isDoc, type Doc } from '../values/types.js';

/**
 * True if every document that matches the filter certainly matches the partial filter of an index.
 */
export function filterImplies(filter: Doc, bounds: ReadonlyMap<string, PathBounds>, partial: Doc): boolean {
  return keysOf(partial).every((path) => {
    const condition = partial[path];
    if (path === '$and' || path === '$or') {
      const holds = (part: unknown): boolean => isDoc(part) && filterImplies(filter, bounds, part);
      return Array.isArray(condition) && (path === '$and' ? condition.every(holds) : condition.some(holds));
    }
    return clausesOf(condition).every((clause) => {
      const isWordForWord = conjunctsOf(filter).some(
        (part) => equalValues(part[path], clause) || includesClause(part[path], clause),
      );
      const found = bounds.get(path);
      return isWordForWord || (found !== undefined && boundsImply(found, clause));
    });
  });
}

/** The filter and the conditions of its `$and`, at any depth. */
function conjunctsOf(filter: Doc): Doc[] {
  const others = Array.isArray(filter['$and']) ? (filter['$and'] as unknown[]).filter(isDoc) : [];
  return [filter, ...others.flatMap(conjunctsOf)];
}

/**
 * Splits `{$gt: 1, $lt: 5}` into single conditions. A condition without operators stays as it is.
 */
function clausesOf(condition: unknown): unknown[] {
  return isOperators(condition)
    ? keysOf(condition).map((operator) => ({ [operator]: condition[operator] }))
    : [condition];
}

function isOperators(value: unknown): value is Doc {
  return isDoc(value) && (keysOf(value)[0]?.startsWith('$') ?? false);
}

/** True if the filter contains the identical clause among its operators. */
function includesClause(condition: unknown, clause: unknown): boolean {
  if (!isOperators(condition) || !isOperators(clause)) {
    return false;
  }
  return keysOf(clause).every(
    (operator) => operator in condition && equalValues(condition[operator], clause[operator]),
  );
}

function boundsImply({ equal, lower, upper, exists }: PathBounds, clause: unknown): boolean {
  const operator = isOperators(clause) ? (keysOf(clause)[0] ?? '') : '$eq';
  const limit = isOperators(clause) ? clause[operator] : clause;
  if (operator === '$exists') {
    return limit === true && exists;
  }
  // As in MongoDB, only an identical `$type` implies a type, even if a value would show it.
  if (operator === '$type') {
    return false;
  }
  // Null also matches a missing field, so it implies nothing that distinguishes the two.
  const matches = compileFilter({ value: clause });
  if (
    equal.some((values) =>
      values.every((value) => value !== null && value !== undefined && matches({ value })),
    )
  ) {
    return true;
  }
  const within = (bound: RangeBound, sign: 1 | -1): boolean => {
    if (typePrefix(bound.value) !== typePrefix(limit)) {
      return false;
    }
    const order = compareValues(bound.value, limit) * sign;
    return order > 0 || (order === 0 && (!bound.inclusive || operator === '$gte' || operator === '$lte'));
  };
  switch (operator) {
    case '$gt':
    case '$gte':
      return lower.some((bound) => within(bound, 1));
    case '$lt':
    case '$lte':
      return upper.some((bound) => within(bound, -1));
    default:
      return false;
  }
}
