import { BSONRegExp } from 'bson';
import { MongoError } from '../../errors.js';
import { keysOf } from '../../values/fields.js';
import { visitPath } from '../../values/paths.js';
import { isDoc, typeNameOf, type Doc } from '../../values/types.js';
import { parsePath } from '../field-path.js';
import { createMapStage, type Collections, type Stage, type StageCall } from '../stage.js';
import { valueKey } from '../value-key.js';
import { withPath } from '../with-path.js';

const options = ['from', 'as', 'localField', 'foreignField', 'let', 'pipeline'];

/**
 * Compiles `$lookup` by equality of two fields, with an optional pipeline over the matching
 * documents. Two values are equal by the rules of filters: null also matches a missing field, and
 * an array matches by its elements.
 * @throws MongoError 9 (FailedToParse) for an invalid specification, 238 for `let` or for a
 * pipeline without the two fields, and the errors of paths and stages.
 */
export function compileLookup(specification: unknown, call: StageCall): Stage {
  const { from, as, fields, pipeline } = parseLookup(specification);
  const find = equalityFinder(fields, from, call.collections);
  if (pipeline === undefined) {
    return createMapStage((document) => withPath(document, as, find(document)));
  }
  const run = call.compilePipeline(pipeline, call.scope, '$lookup');
  return createMapStage((document) => withPath(document, as, [...run(find(document))]));
}

interface Lookup {
  readonly from: string;
  readonly as: readonly string[];
  readonly fields: EqualityFields;
  readonly pipeline: unknown;
}

interface EqualityFields {
  readonly localField: string;
  readonly foreignField: string;
}

function parseLookup(specification: unknown): Lookup {
  if (!isDoc(specification)) {
    throw new MongoError(9, 'the $lookup specification must be an Object');
  }
  const unknown = keysOf(specification).find((key) => !options.includes(key));
  if (unknown !== undefined) {
    throw new MongoError(9, `unknown argument to $lookup: ${unknown}`);
  }
  const { as, localField, foreignField, pipeline } = specification;
  if (typeof as !== 'string') {
    throw new MongoError(9, "must specify 'as' field for a $lookup");
  }
  if ('let' in specification) {
    throw new MongoError(238, "$lookup with 'let' is not supported by embedded-mongo");
  }
  if (pipeline !== undefined && localField === undefined && foreignField === undefined) {
    throw new MongoError(
      238,
      "$lookup with a 'pipeline' but without 'localField' and 'foreignField' is not supported by embedded-mongo",
    );
  }
  if (typeof localField !== 'string' || typeof foreignField !== 'string') {
    throw new MongoError(9, "$lookup arguments 'localField' and 'foreignField' must be strings");
  }
  parsePath(foreignField);
  return {
    from: foreignCollection(specification.from),
    as: parsePath(as),
    fields: { localField, foreignField },
    pipeline,
  };
}

function foreignCollection(from: unknown): string {
  if (typeof from !== 'string' || from === '') {
    throw new MongoError(9, `$lookup argument 'from' must be a string, found ${typeNameOf(from)}`);
  }
  return from;
}

/**
 * Returns a function that finds the documents that match a local document. The result is cached for
 * each set of local values.
 */
function equalityFinder(
  { localField, foreignField }: EqualityFields,
  from: string,
  collections: Collections,
): (document: Doc) => readonly Doc[] {
  const parts = parsePath(localField);
  const known = new Map<unknown, readonly Doc[]>();
  return (document) => {
    const values = localValues(document, parts);
    const key = valueKey(values.length === 1 ? values[0] : values);
    let found = known.get(key);
    if (found === undefined) {
      found = [...collections.lookup(from, equalityFilter(foreignField, values))];
      known.set(key, found);
    }
    return found;
  };
}

/**
 * Returns the local values of a join: all values at the path. An array at the end of the path is
 * replaced by its elements. The result is `[null]` if there is no value.
 */
function localValues(document: Doc, parts: readonly string[]): unknown[] {
  const values: unknown[] = [];
  visitPath(document, parts, true, (value, present) => {
    // Spreading the array into push() could exceed the maximum number of arguments.
    for (const each of Array.isArray(value) ? (value as unknown[]) : present ? [value] : []) {
      values.push(each);
    }
    return false;
  });
  return values.length === 0 ? [null] : values;
}

function equalityFilter(field: string, values: readonly unknown[]): Doc {
  // A regex among the local values is compared as a value. `$in` would match it as a pattern, and
  // `$eq` does not.
  return values.length === 1 || values.some((value) => value instanceof BSONRegExp)
    ? { $or: values.map((value) => ({ [field]: { $eq: value } })) }
    : { [field]: { $in: values } };
}
