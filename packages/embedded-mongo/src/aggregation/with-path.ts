import { copyDoc, deleteField, getField, setField } from '../values/fields.js';
import { isDoc, type Doc } from '../values/types.js';

/**
 * Returns a copy of the document in which the field at the path has this value. Missing documents
 * on the path are created, and other values on the path are replaced with documents. The value
 * `undefined` removes the field.
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
