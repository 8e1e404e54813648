import type { MongoError } from '../errors.js';
import { getField, hasField, isIntegerKey } from './fields.js';
import { isDoc, type Doc } from './types.js';

/** A path that leads nowhere: it sorts as null, but a sparse index leaves the document out. */
export const MISSING = Symbol('missing');

/** What a path finds in a document: a value, or an array whose elements each give a key. */
type Found = { array: false; value: unknown } | { array: true; elements: readonly unknown[]; at: number };

/** What the caller has to say about arrays that paths meet. */
export interface ArrayHandlers {
  /** Told the position of each path that met an array. */
  readonly onArray?: (path: number) => void;
  /** The error for two paths that meet different arrays. */
  readonly parallelArrays: (later: number, earlier: number) => MongoError;
}

/**
 * The keys of a document in an index over these paths, or in a sort by them: one tuple of values per key, MISSING where
 * there is none. Elements of an array give a key each, fields below the same array go through it together, an empty
 * array gives `undefined`.
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

/** Follows a path from its part `at` on. An array that is itself an element is not gone through, as in MongoDB. */
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
