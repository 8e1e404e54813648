import { getField } from '../values/fields.js';
import { indexOf } from '../values/paths.js';
import { isDoc, type Doc } from '../values/types.js';

/**
 * The values that a document offers to a join: those at the path, through arrays, an array at its end by
 * elements. A path that leads to no value at all (an empty array too) offers null.
 */
export function localValues(document: Doc, parts: readonly string[]): unknown[] {
  const values: unknown[] = [];
  collect(document, parts, values);
  return values.length === 0 ? [null] : values;
}

function collect(value: unknown, parts: readonly string[], values: unknown[]): void {
  const [name, ...rest] = parts;
  if (name === undefined) {
    if (Array.isArray(value)) {
      // Not push(...value): an array of a document may have more elements than a call takes arguments.
      for (const element of value) {
        values.push(element);
      }
    } else if (value !== undefined) {
      values.push(value);
    }
  } else if (isDoc(value)) {
    collect(getField(value, name), rest, values);
  } else if (Array.isArray(value)) {
    const position = indexOf(name);
    if (position >= 0) {
      collect(value[position], rest, values);
    }
    for (const element of value) {
      if (isDoc(element)) {
        collect(element, parts, values);
      }
    }
  }
}
