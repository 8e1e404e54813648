import { compareValues } from '../values/compare.js';
import { invertKey, typePrefix } from '../values/key-string.js';
import { isNaNValue } from '../values/numbers.js';
import { isNumeric } from '../values/types.js';
import type { PathBounds, RangeBound } from '../query/filter-bounds.js';
import { formatValue } from './duplicate-key.js';
import { fieldKey, type Index } from './index-definition.js';

/** The part of an index that a query reads. */
export interface IndexBounds {
  /**
   * Ranges of key strings, ascending and without overlap. `from` is inclusive and `to` is
   * exclusive.
   */
  ranges: KeyRange[];
  /** The number of leading fields that are restricted to single values. */
  points: number;
  /** One if the field after these is restricted to a range, otherwise zero. */
  ranged: 0 | 1;
  /** The bounds of each field in the format of `explain`, computed on demand. */
  shown: Record<string, () => string[]>;
}

export interface KeyRange {
  from: string;
  to: string;
}

/**
 * A character that sorts after every character of a key string. `key + END` therefore sorts after
 * every key that begins with `key`.
 */
const END = '\u0100';
/** If there are more ranges than this, reading one large range is faster. */
const RANGES_MAX = 4096;

/** Returns the range of all keys that begin with a prefix. */
export function prefixRange(prefix: string): KeyRange {
  return { from: prefix, to: prefix + END };
}

/**
 * Computes the bounds of a query in an index: single values for the leading fields, then at most
 * one range for the next field.
 */
export function computeIndexBounds(index: Index, bounds: ReadonlyMap<string, PathBounds>): IndexBounds {
  let prefixes = [''];
  let points = 0;
  let multikeyBound = false;
  const shown: IndexBounds['shown'] = {};
  for (const [i, { path, descending }] of index.fields.entries()) {
    const bound = bounds.get(path);
    // Only one array path can be restricted. Different elements of an array may match two paths of
    // the filter, but an index key takes both values from the same element.
    if (bound === undefined || (index.multikey[i] === true && multikeyBound)) {
      break;
    }
    const values = pointsOf(bound);
    if (values !== undefined) {
      const keys = [...new Set(values.map((value) => fieldKey(value, descending)))].sort(byCodeUnit);
      if (keys.length * prefixes.length > RANGES_MAX) {
        break;
      }
      prefixes = prefixes.flatMap((prefix) => keys.map((key) => prefix + key));
      points += 1;
      multikeyBound ||= index.multikey[i] === true;
      shown[path] = () => values.map((value) => `[${formatValue(value)}, ${formatValue(value)}]`);
      continue;
    }
    const range = fieldRange(bound, { descending, isMultikey: index.multikey[i] === true });
    if (range !== undefined) {
      shown[path] = () => [range.show()];
      const ranges = prefixes.map((prefix) => ({ from: prefix + range.from, to: prefix + range.to }));
      return { ranges, points, ranged: 1, shown };
    }
    break;
  }
  return { ranges: prefixes.map(prefixRange), points, ranged: 0, shown };
}

/**
 * Returns the shortest list of values to which a path is restricted. Null is extended by BSON
 * undefined, which a filter for null also matches and which has a separate key.
 */
function pointsOf({ equal }: PathBounds): unknown[] | undefined {
  const [first, ...rest] = equal;
  const fewest = rest.reduce((best, values) => (values.length < (best?.length ?? 0) ? values : best), first);
  return fewest?.flatMap((value) => (value === null ? [undefined, null] : [value]));
}

/**
 * Returns the key range of one field. Undefined if the bounds have different types, or if one of
 * them is NaN.
 */
function fieldRange(
  bounds: PathBounds,
  { descending, isMultikey }: { descending: boolean; isMultikey: boolean },
): (KeyRange & { show: () => string }) | undefined {
  const lower = tightest(bounds.lower, 1);
  // Different elements of an array may satisfy the two bounds, so only one of them can limit the
  // range.
  const upper = isMultikey && lower !== undefined ? undefined : tightest(bounds.upper, -1);
  const sample = lower ?? upper;
  if (sample === undefined) {
    return undefined;
  }
  const type = typePrefix(sample.value);
  if (lower !== undefined && upper !== undefined && typePrefix(upper.value) !== type) {
    return undefined;
  }
  if (isNaNValue(lower?.value) || isNaNValue(upper?.value)) {
    return undefined;
  }
  // NaN sorts before all numbers, but a comparison with another number does not match it.
  const least = isNumeric(sample.value) ? { value: Number.NaN, inclusive: false } : undefined;
  const from = lower ?? least;
  const showRange = (): string =>
    `${lower?.inclusive === true ? '[' : '('}${formatValue(lower?.value)}, ${formatValue(upper?.value)}${upper?.inclusive === true ? ']' : ')'}`;
  if (descending) {
    const inverted = invertKey(type);
    return {
      show: showRange,
      from: upper === undefined ? inverted : fieldKey(upper.value, true) + (upper.inclusive ? '' : END),
      to: from === undefined ? inverted + END : fieldKey(from.value, true) + (from.inclusive ? END : ''),
    };
  }
  return {
    show: showRange,
    from: from === undefined ? type : fieldKey(from.value, false) + (from.inclusive ? '' : END),
    to: upper === undefined ? type + END : fieldKey(upper.value, false) + (upper.inclusive ? END : ''),
  };
}

function tightest(bounds: readonly RangeBound[], sign: 1 | -1): RangeBound | undefined {
  return bounds.reduce<RangeBound | undefined>((best, bound) => {
    if (best === undefined) {
      return bound;
    }
    const order = compareValues(bound.value, best.value) * sign;
    return order > 0 || (order === 0 && !bound.inclusive) ? bound : best;
  }, undefined);
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
