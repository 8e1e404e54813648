import type { Scope } from '../aggregation/operator.js';
import { parseProjection, type Projection, type ProjectionOptions } from '../aggregation/projection.js';
import { isTrue } from '../aggregation/coerce.js';
import { MongoError } from '../errors.js';
import { elementPosition } from '../query/compile-filter.js';
import { getField, keysOf } from '../values/fields.js';
import { isDoc, isNumeric, type Doc } from '../values/types.js';
import { compilePositional } from './positional.js';
import { parseSlice } from './slice.js';

export interface FindProjectionOptions {
  /** The filter of the command: the positional operator shows the element that it matched. */
  readonly filter: Doc;
  readonly scope: Scope;
}

type Special = ReturnType<NonNullable<ProjectionOptions['special']>>;

/**
 * Compiles the projection of find and findAndModify: that of `$project` with `$slice`, `$elemMatch` and `path.$`.
 * @throws 31274, 31275, 31276, 31394, 31395, 28667, 28724, 224, and as `parseProjection` does; 51246 while projecting.
 */
export function compileProjection(specification: Doc, { filter, scope }: FindProjectionOptions): Projection {
  const excludes = keysOf(specification).some((key) => key !== '_id' && isExclusion(specification[key]));
  let positional: string | undefined;
  const special = (path: string, value: unknown): Special => {
    if (isPositional(path)) {
      if (positional !== undefined) {
        throw new MongoError(31276, 'Cannot specify more than one positional projection per query.');
      }
      positional = positionalPath(path, value);
      return { leaf: { kind: 'include' }, mode: 'include', path: positional };
    }
    const operator = isDoc(value) && keysOf(value).length === 1 ? keysOf(value)[0] : undefined;
    if (isDoc(value) && operator === '$slice') {
      return { leaf: { kind: 'apply', apply: parseSlice(value['$slice']) } };
    }
    return isDoc(value) && operator === '$elemMatch'
      ? elemMatchField(path, value['$elemMatch'], excludes)
      : undefined;
  };
  const project = parseProjection(specification, { scope, special });
  return positional === undefined ? project : compilePositional(positional, filter, project);
}

function isExclusion(value: unknown): boolean {
  return (typeof value === 'boolean' || isNumeric(value)) && !isTrue(value);
}

function isPositional(path: string): boolean {
  return path.endsWith('.$') || path.includes('.$.');
}

function positionalPath(path: string, value: unknown): string {
  if (path.includes('.$.')) {
    throw new MongoError(
      31394,
      'As of 4.4, it is illegal to specify a positional operator in the middle of a path.',
    );
  }
  if (isExclusion(value)) {
    throw new MongoError(31395, 'positional projection cannot be used with exclusion');
  }
  if (!isNumeric(value) && value !== true) {
    throw new MongoError(31271, 'positional projection cannot be used with a literal or an expression');
  }
  return path.slice(0, -2);
}

/** The first element that matches, in an array; nothing if none does. It comes after the fields that are kept. */
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
