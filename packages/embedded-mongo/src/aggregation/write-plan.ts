import { ObjectId } from 'bson';
import { MongoError } from '../errors.js';
import { copyDoc, hasField, keysOf, setField } from '../values/fields.js';
import { isDoc, typeNameOf } from '../values/types.js';
import type { Doc } from '../values/types.js';
import { valueAt, withPath } from './stages/unwind.js';

/** Where `$out` and `$merge` write; `database` undefined is the pipeline's own. */
interface WriteTarget {
  readonly database: string | undefined;
  readonly collection: string;
}

/** `$out`: the results replace the collection, as a whole or not at all. */
export interface OutPlan {
  readonly kind: 'out';
  readonly into: WriteTarget;
}

/**
 * `$merge`, for each result in order: `key` is the filter that finds the existing document (the fields `on`
 * need a unique index: error 51183). Found: `matched` gives the document to store instead, undefined to
 * leave it; it throws 11000 for `whenMatched: 'fail'`. Not found: `notMatched` (error 13113 for 'fail').
 */
export interface MergePlan {
  readonly kind: 'merge';
  readonly into: WriteTarget;
  readonly on: readonly string[];
  /** Adds an `_id` to a result that has none, when `on` is `_id`. */
  readonly prepare: (result: Doc) => Doc;
  /** Errors 51132 and 51185 for `on` fields without a value or with an array. */
  readonly key: (result: Doc) => Doc;
  readonly matched: (existing: Doc, result: Doc) => Doc | undefined;
  readonly notMatched: 'insert' | 'discard' | 'fail';
}

export type WritePlan = OutPlan | MergePlan;

export function parseOut(specification: unknown): OutPlan {
  if (typeof specification === 'string') {
    return { kind: 'out', into: { database: undefined, collection: specification } };
  }
  if (!isDoc(specification)) {
    throw new MongoError(
      16990,
      `$out only supports a string or object argument, but found ${typeNameOf(specification)}`,
    );
  }
  if ('timeseries' in specification) {
    throw new MongoError(238, "$out with 'timeseries' is not supported by embedded-mongo");
  }
  const { db, coll } = specification;
  if (typeof db !== 'string' || typeof coll !== 'string') {
    throw new MongoError(
      16994,
      "If an object is passed to $out it must have exactly the fields 'db' and 'coll'",
    );
  }
  return { kind: 'out', into: { database: db, collection: coll } };
}

const mergeOptions = ['into', 'on', 'let', 'whenMatched', 'whenNotMatched'];
const matchedModes = ['merge', 'replace', 'keepExisting', 'fail'] as const;
const notMatchedModes = ['insert', 'discard', 'fail'] as const;

/** Errors 51182, 51178, 51181 and 51187; 238 for a pipeline that merges, and its `let`. */
export function parseMerge(specification: unknown): MergePlan {
  const options = typeof specification === 'string' ? { into: specification } : specification;
  if (!isDoc(options)) {
    throw new MongoError(
      51182,
      `$merge only supports a string or object argument, not ${typeNameOf(options)}`,
    );
  }
  const unknown = keysOf(options).find((key) => !mergeOptions.includes(key));
  if (unknown !== undefined) {
    throw new MongoError(40415, `BSON field '$merge.${unknown}' is an unknown field.`);
  }
  const { whenMatched = 'merge', whenNotMatched = 'insert' } = options;
  if (Array.isArray(whenMatched) || 'let' in options) {
    throw new MongoError(238, '$merge with a pipeline in whenMatched is not supported by embedded-mongo');
  }
  const into = mergeTarget(options.into);
  const on = onFields(options.on);
  const notMatched = notMatchedModes.find((mode) => mode === whenNotMatched);
  if (notMatched === undefined) {
    throw new MongoError(
      2,
      `Enumeration value '${String(whenNotMatched)}' for field '$merge.whenNotMatched' is not a valid value.`,
    );
  }
  const mode = matchedModes.find((known) => known === whenMatched);
  if (mode === undefined) {
    throw new MongoError(
      2,
      `Enumeration value '${String(whenMatched)}' for field '$merge.whenMatched' is not a valid value.`,
    );
  }
  if ((mode === 'keepExisting' || mode === 'fail') && notMatched !== 'insert') {
    throw new MongoError(
      51181,
      `Combination of {whenMatched: ${mode}} and {whenNotMatched: ${notMatched}} is not supported`,
    );
  }
  const matched = matchedBy(mode);
  return { kind: 'merge', into, on, prepare: preparer(on), key: keyOf(on), matched, notMatched };
}

function mergeTarget(into: unknown): WriteTarget {
  if (typeof into === 'string') {
    return { database: undefined, collection: into };
  }
  if (into === undefined) {
    throw new MongoError(40414, "BSON field '$merge.into' is missing but a required field");
  }
  if (!isDoc(into) || typeof into.coll !== 'string') {
    throw new MongoError(51178, "$merge 'into' field must be a string or an object with a 'coll'");
  }
  return { database: typeof into.db === 'string' ? into.db : undefined, collection: into.coll };
}

function onFields(on: unknown): string[] {
  if (on === undefined) {
    return ['_id'];
  }
  const list: unknown[] = Array.isArray(on) ? on : [on];
  if (list.length === 0) {
    throw new MongoError(51187, "If explicitly specifying $merge 'on', must include at least one field");
  }
  return list.map((field) => {
    if (typeof field !== 'string') {
      throw new MongoError(
        Array.isArray(on) ? 51134 : 51186,
        `$merge 'on' must be a string or an array of strings, but found ${typeNameOf(field)}`,
      );
    }
    return field;
  });
}

function preparer(on: readonly string[]): (result: Doc) => Doc {
  return (result) => {
    if (hasField(result, '_id') || !on.includes('_id')) {
      return result;
    }
    const withId: Doc = { _id: new ObjectId() };
    for (const key of keysOf(result)) {
      setField(withId, key, result[key]);
    }
    return withId;
  };
}

function keyOf(on: readonly string[]): (result: Doc) => Doc {
  return (result) => {
    const key: Doc = {};
    for (const path of on) {
      const value = valueAt(result, path.split('.'));
      if (value === undefined || value === null) {
        throw new MongoError(
          51132,
          `$merge write error: 'on' field '${path}' cannot be missing, null or undefined`,
        );
      }
      if (Array.isArray(value)) {
        throw new MongoError(51185, `$merge write error: 'on' field '${path}' cannot be an array`);
      }
      setField(key, path, { $eq: value });
    }
    return key;
  };
}

function matchedBy(mode: (typeof matchedModes)[number]): MergePlan['matched'] {
  switch (mode) {
    case 'keepExisting':
      return () => undefined;
    case 'replace':
      return (existing, result) => withPath(result, ['_id'], existing._id);
    case 'merge':
      return (existing, result) => {
        const merged = copyDoc(existing);
        for (const key of keysOf(result)) {
          setField(merged, key, result[key]);
        }
        return merged;
      };
    case 'fail':
      return () => {
        throw new MongoError(
          11000,
          "$merge with whenMatched: fail found an existing document with the same values for the 'on' fields",
        );
      };
  }
}
