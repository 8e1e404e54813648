import type { Projection } from '../aggregation/projection.js';
import { MongoError } from '../errors.js';
import { compileFilter } from '../query/compile-filter.js';
import type { MatchDetails } from '../query/predicate.js';
import { copyDoc, getField, hasField, setField } from '../values/fields.js';
import { splitPath } from '../values/paths.js';
import { isDoc, type Doc } from '../values/types.js';

/** Reduces the first array on the path to the element at which the filter matched. @throws 224, 51246, 51247. */
export function compilePositional(path: string, filter: Doc, project: Projection): Projection {
  const matches = compileFilter(filter, { upsert: true });
  const parts = splitPath(path);
  return (doc) => {
    const details: MatchDetails = { position: undefined };
    matches(doc, details);
    return reduce(project(doc), parts, details.position);
  };
}

function reduce(doc: Doc, parts: readonly string[], position: number | undefined): Doc {
  const [part = '', ...rest] = parts;
  if (!hasField(doc, part)) {
    return doc;
  }
  const value = getField(doc, part);
  const reduced = Array.isArray(value)
    ? [elementAt(value, position)]
    : isDoc(value) && rest.length > 0
      ? reduce(value, rest, position)
      : value;
  const copy = copyDoc(doc);
  setField(copy, part, reduced);
  return copy;
}

function elementAt(array: readonly unknown[], position: number | undefined): unknown {
  if (position === undefined) {
    throw new MongoError(51246, "positional operator '.$' couldn't find a matching element in the array");
  }
  if (position >= array.length) {
    throw new MongoError(51247, "positional operator '.$' element mismatch");
  }
  return array[position];
}
