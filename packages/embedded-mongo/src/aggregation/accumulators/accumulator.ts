import { compareValues } from '../../values/compare.js';
import type { Doc } from '../../values/types.js';
import { isNullish } from '../coerce.js';
import { mergeInto } from '../operators/objects.js';
import { valueKey } from '../value-key.js';

/**
 * Accumulates values. An accumulator serves one group of `$group`, or one evaluation of an
 * expression such as `$sum`. `undefined` is a missing value.
 */
export interface Accumulator {
  add: (value: unknown) => void;
  result: () => unknown;
}

/**
 * Finds the least (`sign` 1) or greatest (`sign` -1) value in the total order. Null and missing
 * values are ignored.
 */
export function createMinMax(sign: 1 | -1): Accumulator {
  let best: unknown = null;
  return {
    add: (value) => {
      if (!isNullish(value) && (best === null || compareValues(value, best) * sign < 0)) {
        best = value;
      }
    },
    result: () => best,
  };
}

export function createFirst(): Accumulator {
  let first: unknown;
  let seen = false;
  return {
    add: (value) => {
      if (!seen) {
        first = value;
        seen = true;
      }
    },
    result: () => first,
  };
}

export function createLast(): Accumulator {
  let last: unknown;
  return { add: (value) => (last = value), result: () => last };
}

export function createPush(): Accumulator {
  const values: unknown[] = [];
  return {
    add: (value) => {
      if (value !== undefined) {
        values.push(value);
      }
    },
    result: () => values,
  };
}

export function createAddToSet(): Accumulator {
  const values = new Map<unknown, unknown>();
  return {
    add: (value) => {
      const key = valueKey(value);
      if (value !== undefined && !values.has(key)) {
        values.set(key, value);
      }
    },
    result: () => [...values.values()],
  };
}

export function createMergeObjects(): Accumulator {
  const merged: Doc = {};
  return { add: (value) => mergeInto(merged, value), result: () => merged };
}
