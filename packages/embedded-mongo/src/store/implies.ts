import { compileFilter } from '../query/compile-filter.js';
import type { PathBounds, RangeBound } from '../query/filter-bounds.js';
import { compareValues, equalValues } from '../values/compare.js';
import { keysOf } from '../values/fields.js';
import { typePrefix } from '../values/key-string.js';
import { isDoc, type Doc } from '../values/types.js';

/**
 * True if every document that matches the filter is known to match the partial filter of an index.
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

/** Returns the filter and, at any depth, the conditions of its `$and`. */
function conjunctsOf(filter: Doc): Doc[] {
  const others = Array.isArray(filter['$and']) ? (filter['$and'] as unknown[]).filter(isDoc) : [];
  return [filter, ...others.flatMap(conjunctsOf)];
}

/**
 * Splits an operator object such as `{$gt: 1, $lt: 5}` into conditions with one operator each. Any
 * other condition stays unchanged.
 */
function clausesOf(condition: unknown): unknown[] {
  return isOperators(condition)
    ? keysOf(condition).map((operator) => ({ [operator]: condition[operator] }))
    : [condition];
}

function isOperators(value: unknown): value is Doc {
  return isDoc(value) && (keysOf(value)[0]?.startsWith('$') ?? false);
}

/** True if the condition contains all operators of the clause with equal operands. */
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
  // As in MongoDB, only an identical `$type` implies a type. The type of a compared value does not.
  if (operator === '$type') {
    return false;
  }
  // Null also matches a missing field. It therefore implies no clause that treats null and a
  // missing field differently.
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
