import { MongoError } from '../errors.js';
import { isDoc, type Doc } from '../values/types.js';

/**
 * Returns a function that reads a field. Inherited properties such as `constructor` and `__proto__`
 * are not fields.
 */
function fieldReader(name: string): (document: Doc) => unknown {
  return name in Object.prototype
    ? (document) => (Object.hasOwn(document, name) ? document[name] : undefined)
    : (document) => document[name];
}

/**
 * Compiles the path of an expression. In an array, it collects the values from the elements that
 * are objects and skips the other elements. Unlike in a filter, a number in the path is a field
 * name and never an array index. The compiled function returns `undefined` for a missing value.
 */
export function compilePath(parts: readonly string[]): (value: unknown) => unknown {
  const [name, ...rest] = parts;
  if (name === undefined) {
    return (value) => value;
  }
  const read = fieldReader(name);
  const inner = rest.length > 0 ? compilePath(rest) : undefined;
  const ofDocument = inner === undefined ? read : (document: Doc): unknown => inner(read(document));
  return (value) => {
    if (isDoc(value)) {
      return ofDocument(value);
    }
    return Array.isArray(value) ? collect(value, ofDocument) : undefined;
  };
}

/**
 * Like `compilePath`, but for a value that is known to be a document, so its first field is read
 * without a type check.
 */
export function compileRootPath(parts: readonly string[]): (root: Doc) => unknown {
  const [name, ...rest] = parts;
  if (name === undefined) {
    return (root) => root;
  }
  const read = fieldReader(name);
  if (rest.length === 0) {
    return read;
  }
  const inner = compilePath(rest);
  return (root) => inner(read(root));
}

function collect(elements: readonly unknown[], ofDocument: (document: Doc) => unknown): unknown[] {
  const found: unknown[] = [];
  for (const element of elements) {
    if (isDoc(element)) {
      const value = ofDocument(element);
      if (value !== undefined) {
        found.push(value);
      }
    }
  }
  return found;
}

/**
 * Splits a dotted path and checks its parts.
 * @throws MongoError 40352 if the path is empty, 40353 if it ends with a dot, and the errors of
 * `checkFieldName`.
 */
export function parsePath(path: string): string[] {
  if (path === '') {
    throw new MongoError(40352, 'FieldPath cannot be constructed with empty string');
  }
  if (path.endsWith('.')) {
    throw new MongoError(40353, "FieldPath must not end with a '.'.");
  }
  const parts = path.split('.');
  for (const part of parts) {
    checkFieldName(part);
  }
  return parts;
}

/**
 * Checks one part of a path, or a field name in an object expression.
 * @throws MongoError 15998 if the name is empty, 16410 if it begins with a dollar sign, 16411 if it
 * contains a zero byte, 16412 if it contains a dot.
 */
export function checkFieldName(name: string): void {
  if (name === '') {
    throw new MongoError(15998, 'FieldPath field names may not be empty strings.');
  }
  if (name.startsWith('$')) {
    throw new MongoError(
      16410,
      `FieldPath field names may not start with '$'. Consider using $getField or $setField.`,
    );
  }
  if (name.includes('\0')) {
    throw new MongoError(16411, "FieldPath field names may not contain '\\0'.");
  }
  if (name.includes('.')) {
    throw new MongoError(
      16412,
      "FieldPath field names may not contain '.'. Consider using $getField or $setField.",
    );
  }
}
