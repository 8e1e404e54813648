import { getField, hasField } from '../values/fields.js';
import { visitPath } from '../values/paths.js';
import type { Doc } from '../values/types.js';

/**
 * Details of a match for the positional operator. `position` is the index of the matching element
 * in the outermost array on the path.
 */
export interface MatchDetails {
  position: number | undefined;
}

/** Returns true if a document matches. Only in that case are the fields of `details` valid. */
export type Filter = (doc: Doc, details?: MatchDetails) => boolean;

/** Tests one value. For a missing value, `present` is false and the value is `undefined`. */
export type ValueTest = (value: unknown, present: boolean) => boolean;

/** The compiled operators of one field. They do not depend on the path of the field. */
export type Predicate =
  | {
      readonly kind: 'value';
      readonly test: ValueTest;
      /** True for operators that test an array as a whole and not its elements. */
      readonly wholeArrays: boolean;
      /** For `$elemMatch`: returns the position of the first matching array element. */
      readonly locate?: (value: unknown) => number;
    }
  | { readonly kind: 'not'; readonly inner: Predicate }
  | { readonly kind: 'and'; readonly inner: readonly Predicate[] };

export function valuePredicate(test: ValueTest): Predicate {
  return { kind: 'value', test, wholeArrays: false };
}

export function arrayPredicate(test: ValueTest): Predicate {
  return { kind: 'value', test, wholeArrays: true };
}

export function not(inner: Predicate): Predicate {
  return { kind: 'not', inner };
}

export function and(inner: readonly Predicate[]): Predicate {
  const [first] = inner;
  return first !== undefined && inner.length === 1 ? first : { kind: 'and', inner };
}

/** Returns a filter that applies the predicate to the values at a path. */
export function toFilter(predicate: Predicate, parts: readonly string[]): Filter {
  switch (predicate.kind) {
    case 'not': {
      const inner = toFilter(predicate.inner, parts);
      return (doc) => !inner(doc);
    }
    case 'and':
      return allOf(predicate.inner.map((inner) => toFilter(inner, parts)));
    case 'value':
      return valuesAtPath(predicate, parts);
  }
}

function valuesAtPath(predicate: Predicate & { kind: 'value' }, parts: readonly string[]): Filter {
  const { test, wholeArrays } = predicate;
  const [name] = parts;
  const search = (doc: Doc, details?: MatchDetails): boolean =>
    visitPath(doc, parts, wholeArrays, details === undefined ? test : recorder(predicate, details));
  if (name === undefined || parts.length > 1) {
    return search;
  }
  return (doc, details) => {
    const value = getField(doc, name);
    return Array.isArray(value)
      ? search(doc, details)
      : test(value, value !== undefined || hasField(doc, name));
  };
}

function recorder(predicate: Predicate & { kind: 'value' }, details: MatchDetails) {
  return (value: unknown, present: boolean, position: number | undefined): boolean => {
    if (!predicate.test(value, present)) {
      return false;
    }
    const found = position ?? predicate.locate?.(value);
    if (found !== undefined) {
      details.position = found;
    }
    return true;
  };
}

/**
 * Applies a predicate to one value. The elements of an array are not tested, as in `$elemMatch` and
 * `$pull`.
 */
export function toValueTest(predicate: Predicate): ValueTest {
  switch (predicate.kind) {
    case 'not': {
      const inner = toValueTest(predicate.inner);
      return (value, present) => !inner(value, present);
    }
    case 'and': {
      const tests = predicate.inner.map(toValueTest);
      return (value, present) => tests.every((test) => test(value, present));
    }
    case 'value':
      return predicate.test;
  }
}

export function allOf(filters: readonly Filter[]): Filter {
  const [first] = filters;
  if (first === undefined) {
    return () => true;
  }
  if (filters.length === 1) {
    return first;
  }
  return (doc, details) => {
    for (const filter of filters) {
      if (!filter(doc, details)) {
        return false;
      }
    }
    return true;
  };
}
