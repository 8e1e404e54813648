import type { Scope } from '../aggregation/operator.js';
import { parseProjection, type Projection, type ProjectionOptions } from '../aggregation/projection.js';
import { isTruthy } from '../aggregation/coerce.js';
import { MongoError } from '../errors.js';
import { elementPosition } from '../query/compile-filter.js';
import { getField, keysOf } from '../values/fields.js';
import { isDoc, isNumeric, type Doc } from '../values/types.js';
import { parseSlice } from './slice.js';

type Special = ReturnType<NonNullable<ProjectionOptions['special']>>;

/**
 * Compiles the projection of `find` and `findAndModify`. It supports everything that `$project`
 * supports, and also `$slice` and `$elemMatch`.
 * @throws MongoError 31274, 31275, 28667 or 28724 for an invalid `$slice` or `$elemMatch`, 238 for
 * the positional `path.$`, and the errors of `parseProjection`.
 */
export function compileProjection(specification: Doc, scope: Scope): Projection {
  const excludes = keysOf(specification).some((key) => key !== '_id' && isExclusion(specification[key]));
  const special = (path: string, value: unknown): Special => {
    if (isPositional(path)) {
      throw new MongoError(238, `positional projection ('${path}') is not supported by embedded-mongo`);
    }
    const operator = isDoc(value) && keysOf(value).length === 1 ? keysOf(value)[0] : undefined;
    if (isDoc(value) && operator === '$slice') {
      return { leaf: { kind: 'apply', apply: parseSlice(value['$slice']) } };
    }
    return isDoc(value) && operator === '$elemMatch'
      ? elemMatchField(path, value['$elemMatch'], excludes)
      : undefined;
  };
  return parseProjection(specification, { scope, special });
}

function isExclusion(value: unknown): boolean {
  return (typeof value === 'boolean' || isNumeric(value)) && !isTruthy(value);
}

function isPositional(path: string): boolean {
  return path.endsWith('.$') || path.includes('.$.');
}

/**
 * Compiles `$elemMatch`: the result is an array with the first matching element. If none matches,
 * the field is removed. The field follows the included fields.
 */
function elemMatchField(path: string, condition: unknown, excludes: boolean): Special {
  if (!isDoc(condition)) {
    throw new MongoError(31274, `elemMatch: Invalid argument, object required, but got ${typeof condition}`);
  }
  if (path.includes('.')) {
    throw new MongoError(31275, 'Cannot use $elemMatch projection on a nested field.');
  }
  const locate = elementPosition(condition);
  const apply = (value: unknown): unknown => {
    const position = locate(value);
    return position < 0 || !Array.isArray(value) ? undefined : [value[position]];
  };
  if (excludes) {
    return { leaf: { kind: 'apply', apply } };
  }
  const evaluate = (root: Doc): unknown => apply(getField(root, path));
  return { leaf: { kind: 'compute', expression: { evaluate, constant: false } }, mode: 'include' };
}
