import { MongoError } from '../errors.js';
import { isDoc, type Doc } from '../values/types.js';

/** Reads a field of a document, but no inherited property (`constructor`, `__proto__`). */
function fieldReader(name: string): (document: Doc) => unknown {
  return name in Object.prototype
    ? (document) => (Object.hasOwn(document, name) ? document[name] : undefined)
    : (document) => document[name];
}

/**
 * Compiles an expression path. It goes through objects and collects the values of the objects in
 * arrays. Elements that are not objects are skipped, and an index is not a path part. Missing is
 * `undefined`.
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

/** Like compilePath, for a document: the first part is read without a type check. */
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

/** Splits and checks a dotted path. Errors 40352, 40353, 15998, 16410 and 16411. */
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
 * Checks one part of a path, or a field of an object expression. Errors 15998, 16410, 16411 and
 * 16412.
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
