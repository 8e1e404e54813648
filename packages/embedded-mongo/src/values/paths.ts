import { getField, hasField } from './fields.js';
import { isDoc, type Doc } from './types.js';

const CACHE_MAX = 5000;
const cache = new Map<string, readonly string[]>();

/** Splits a dotted path into its parts. */
export function splitPath(path: string): readonly string[] {
  let parts = cache.get(path);
  if (parts === undefined) {
    parts = path.split('.');
    if (cache.size < CACHE_MAX) {
      cache.set(path, parts);
    }
  }
  return parts;
}

/**
 * Returns the array index that a path part represents ('0' or '12', but not '01'). Otherwise -1.
 */
export function parseArrayIndex(part: string): number {
  return /^(?:0|[1-9]\d{0,8})$/.test(part) ? Number(part) : -1;
}

/**
 * Called for each value that a filter sees at a path. `present` is false for a missing value.
 * `position` is the index in the outermost array whose elements were visited because the path
 * contains no index. Returning true ends the walk.
 */
export type Visit = (value: unknown, present: boolean, position: number | undefined) => boolean;

/**
 * Visits the values at a path as filters do. In an array on the path, the walk continues in each
 * element that is a document, and in the element whose index is the next part of the path. If there
 * is no such element, nothing is visited, not even a missing value.
 *
 * An array at the end of the path is visited element by element and then as a whole. With
 * `wholeArrays` it is visited only as a whole.
 * @returns true if a visit has returned true.
 */
export function visitPath(doc: Doc, parts: readonly string[], wholeArrays: boolean, visit: Visit): boolean {
  return new Walk(parts, wholeArrays, visit).doc(doc, 0, undefined);
}

class Walk {
  readonly #last: number;

  constructor(
    readonly parts: readonly string[],
    readonly wholeArrays: boolean,
    readonly visit: Visit,
  ) {
    this.#last = parts.length - 1;
  }

  doc(doc: Doc, depth: number, position: number | undefined): boolean {
    let current = doc;
    for (let i = depth; ; i++) {
      const part = this.parts[i] ?? '';
      const value = getField(current, part);
      if (i === this.#last) {
        return this.#end(value, value !== undefined || hasField(current, part), position);
      }
      if (Array.isArray(value)) {
        return this.#array(value, i + 1, position);
      }
      if (!isDoc(value)) {
        return this.visit(undefined, false, position);
      }
      current = value;
    }
  }

  #end(value: unknown, present: boolean, position: number | undefined): boolean {
    if (!this.wholeArrays && Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        if (this.visit(value[i], true, position ?? i)) {
          return true;
        }
      }
    }
    return this.visit(value, present, position);
  }

  #array(array: readonly unknown[], depth: number, position: number | undefined): boolean {
    const named = parseArrayIndex(this.parts[depth] ?? '');
    for (let i = 0; i < array.length; i++) {
      const element = array[i];
      if (isDoc(element)) {
        if (this.doc(element, depth, position ?? i)) {
          return true;
        }
      }
      if (i === named && (depth === this.#last || Array.isArray(element) || isDoc(element))) {
        if (this.#named(element, depth, position)) {
          return true;
        }
      }
    }
    return false;
  }

  /**
   * Visits an array element whose index is in the path. If the element is at the end of the path
   * and is an array, its elements are not visited.
   */
  #named(element: unknown, depth: number, position: number | undefined): boolean {
    if (depth === this.#last) {
      return this.visit(element, true, position);
    }
    return Array.isArray(element)
      ? this.#array(element, depth + 1, position)
      : this.doc(element as Doc, depth + 1, position);
  }
}
