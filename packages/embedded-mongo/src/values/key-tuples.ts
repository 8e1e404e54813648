import type { MongoError } from '../errors.js';
import { getField, hasField, isIntegerKey } from './fields.js';
import { isDoc, type Doc } from './types.js';

/**
 * Represents a missing value. It sorts like null, but a sparse index contains no document whose
 * values are all missing.
 */
export const MISSING = Symbol('missing');

/**
 * The values at a path of a document: either one value, or an array with a separate key for each
 * element.
 */
type Found = { array: false; value: unknown } | { array: true; elements: readonly unknown[]; at: number };

/** Functions that are called if a path contains an array. */
export interface ArrayHandlers {
  /**
   * Called for each path that contains an array. The argument is the position of the path in the
   * list.
   */
  readonly onArray?: (path: number) => void;
  /** Creates the error for two paths that contain different arrays. */
  readonly parallelArrays: (later: number, earlier: number) => MongoError;
}

/**
 * Returns the keys of a document for an index or a sort. Each key has one value for each path, and
 * MISSING for a missing value. An array produces a key for each of its elements. Fields below the
 * same array are taken from the same element. An empty array produces one key with `undefined`.
 */
export function keyTuples(
  paths: readonly (readonly string[])[],
  doc: Doc,
  handlers: ArrayHandlers,
): unknown[][] {
  const found = paths.map((parts) => find(parts, doc, 0, false));
  return expand(paths, found, handlers);
}

function expand(
  paths: readonly (readonly string[])[],
  found: readonly Found[],
  handlers: ArrayHandlers,
): unknown[][] {
  let shared: readonly unknown[] | undefined;
  let sharedAt = 0;
  found.forEach((slot, i) => {
    if (!slot.array) {
      return;
    }
    handlers.onArray?.(i);
    if (shared !== undefined && shared !== slot.elements) {
      throw handlers.parallelArrays(i, sharedAt);
    }
    shared = slot.elements;
    sharedAt = i;
  });
  if (shared === undefined) {
    return [found.map((slot) => (slot.array ? MISSING : slot.value))];
  }
  if (shared.length === 0) {
    const slots = found.map((slot, i): Found => {
      const terminal = slot.array && slot.at === paths[i]?.length;
      return slot.array ? { array: false, value: terminal ? undefined : MISSING } : slot;
    });
    return expand(paths, slots, handlers);
  }
  return shared.flatMap((element) => {
    const slots = found.map((slot, i) => (slot.array ? find(paths[i] ?? [], element, slot.at, true) : slot));
    return expand(paths, slots, handlers);
  });
}

/**
 * Follows a path, beginning with its part `at`. As in MongoDB, an array that is itself an array
 * element is not expanded.
 */
function find(parts: readonly string[], start: unknown, at: number, isElement: boolean): Found {
  let value = start;
  let element = isElement;
  for (; at < parts.length; at++) {
    const part = parts[at] ?? '';
    if (Array.isArray(value)) {
      if (isIntegerKey(part) && Number(part) < value.length) {
        value = value[Number(part)];
      } else if (element) {
        return { array: false, value: MISSING };
      } else {
        return { array: true, elements: value as unknown[], at };
      }
    } else if (isDoc(value) && hasField(value, part)) {
      value = getField(value, part);
    } else {
      return { array: false, value: MISSING };
    }
    element = false;
  }
  return Array.isArray(value) && !element
    ? { array: true, elements: value as unknown[], at }
    : { array: false, value };
}
