import { Long } from 'bson';
import { MongoError } from '../../errors.js';
import { getField, keysOf } from '../../values/fields.js';
import { isDoc, typeNameOf, type Doc } from '../../values/types.js';
import { parsePath } from '../field-path.js';
import { withPath } from '../with-path.js';
import type { Stage } from '../stage.js';

interface Unwind {
  readonly path: readonly string[];
  readonly indexPath: readonly string[] | undefined;
  readonly keepsEmpty: boolean;
}

/**
 * Compiles `$unwind` from a path or an object.
 * @throws MongoError 15981, 28808 to 28812, 28818 or 28822 for an invalid argument, as MongoDB
 * does.
 */
export function compileUnwind(specification: unknown): Stage {
  const unwind =
    typeof specification === 'string'
      ? { path: unwindPath(specification), indexPath: undefined, keepsEmpty: false }
      : parseOptions(specification);
  return function* unwindAll(input) {
    for (const document of input) {
      yield* unwindOne(document, unwind);
    }
  };
}

function parseOptions(specification: unknown): Unwind {
  if (!isDoc(specification)) {
    throw new MongoError(
      15981,
      `expected either a string or an object as specification for $unwind stage, got ${typeNameOf(specification)}`,
    );
  }
  const unknown = keysOf(specification).find(
    (key) => !['path', 'includeArrayIndex', 'preserveNullAndEmptyArrays'].includes(key),
  );
  if (unknown !== undefined) {
    throw new MongoError(28811, `unrecognized option to $unwind stage: ${unknown}`);
  }
  const { path, includeArrayIndex: index, preserveNullAndEmptyArrays: keepsEmpty = false } = specification;
  if (path === undefined) {
    throw new MongoError(28812, 'no path specified to $unwind stage');
  }
  if (typeof path !== 'string') {
    throw new MongoError(28808, `expected a string as the path for $unwind stage, got ${typeNameOf(path)}`);
  }
  if (typeof keepsEmpty !== 'boolean') {
    throw new MongoError(
      28809,
      `expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, got ${typeNameOf(keepsEmpty)}`,
    );
  }
  return { path: unwindPath(path), indexPath: indexField(index), keepsEmpty };
}

function unwindPath(path: string): string[] {
  if (!path.startsWith('$')) {
    throw new MongoError(28818, `path option to $unwind stage should be prefixed with a '$': ${path}`);
  }
  return parsePath(path.slice(1));
}

function indexField(index: unknown): string[] | undefined {
  if (index === undefined) {
    return undefined;
  }
  if (typeof index !== 'string' || index === '') {
    throw new MongoError(
      28810,
      'expected a non-empty string for the includeArrayIndex option to $unwind stage',
    );
  }
  if (index.startsWith('$')) {
    throw new MongoError(
      28822,
      `includeArrayIndex option to $unwind stage should not be prefixed with a '$': ${index}`,
    );
  }
  return parsePath(index);
}

function* unwindOne(document: Doc, { path, indexPath, keepsEmpty }: Unwind): Iterable<Doc> {
  const value = getValue(document, path);
  const withIndex = (unwound: Doc, index: unknown): Doc =>
    indexPath === undefined ? unwound : withPath(unwound, indexPath, index);
  if (!Array.isArray(value)) {
    // A value that is not an array is treated as an array with one element.
    if (keepsEmpty || (value !== null && value !== undefined)) {
      yield withIndex(document, null);
    }
  } else if (value.length === 0) {
    if (keepsEmpty) {
      yield withIndex(withPath(document, path, undefined), null);
    }
  } else {
    for (let index = 0; index < value.length; index++) {
      yield withIndex(withPath(document, path, value[index]), Long.fromNumber(index));
    }
  }
}

/** Returns the value at a path. Arrays on the path are not entered. */
function getValue(document: Doc, path: readonly string[]): unknown {
  let value: unknown = document;
  for (const name of path) {
    if (!isDoc(value)) {
      return undefined;
    }
    value = getField(value, name);
  }
  return value;
}
