import { MongoError } from '../errors.js';
import { getField, hasField, isIntegerKey } from '../values/fields.js';
import { isDoc, type Doc } from '../values/types.js';

/** A path that leads nowhere: its key is null, but a sparse index leaves the document out. */
export const MISSING = Symbol('missing');

/** What a field of an index finds in a document: a value, or an array whose elements each give a key. */
type Found = { array: false; value: unknown } | { array: true; elements: readonly unknown[]; at: number };

/**
 * The keys of a document in an index over these paths, as one tuple of values per key (MISSING where there is none).
 * Elements of an array give a key each, fields below the same array go through it together, an empty array gives
 * `undefined`. Calls `onArray` with the position of each path that met an array.
 * @throws MongoError 171 when two paths meet different arrays.
 */
export function keyTuples(
  paths: readonly (readonly string[])[],
  doc: Doc,
  onArray: (path: number) => void,
): unknown[][] {
  const found = paths.map((parts) => find(parts, doc, 0, false));
  return expand(paths, found, onArray);
}

function expand(
  paths: readonly (readonly string[])[],
  found: readonly Found[],
  onArray: (path: number) => void,
): unknown[][] {
  let shared: readonly unknown[] | undefined;
  let sharedAt = 0;
  found.forEach((slot, i) => {
    if (!slot.array) {
      return;
    }
    onArray(i);
    if (shared !== undefined && shared !== slot.elements) {
      throw parallelArrays(paths, i, sharedAt);
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
    return expand(paths, slots, onArray);
  }
  return shared.flatMap((element) => {
    const slots = found.map((slot, i) => (slot.array ? find(paths[i] ?? [], element, slot.at, true) : slot));
    return expand(paths, slots, onArray);
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

function parallelArrays(paths: readonly (readonly string[])[], later: number, earlier: number): MongoError {
  const name = (i: number): string => paths[i]?.at(-1) ?? '';
  return new MongoError(171, `cannot index parallel arrays [${name(later)}] [${name(earlier)}]`);
}
