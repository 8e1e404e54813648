import { copyDoc, deleteField, getField, setField } from '../values/fields.js';
import { isDoc, type Doc } from '../values/types.js';

/**
 * Copies a document and sets a path. Documents on the way are created or replaced. `undefined`
 * removes the field.
 */
export function withPath(document: Doc, path: readonly string[], value: unknown): Doc {
  const [name, ...rest] = path;
  if (name === undefined) {
    return document;
  }
  const copy = copyDoc(document);
  if (rest.length > 0) {
    const inner = getField(document, name);
    setField(copy, name, withPath(isDoc(inner) ? inner : {}, rest, value));
  } else if (value === undefined) {
    deleteField(copy, name);
  } else {
    setField(copy, name, value);
  }
  return copy;
}
