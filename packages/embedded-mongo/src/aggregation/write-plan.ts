import { MongoError } from '../errors.js';
import { keysOf } from '../values/fields.js';
import { isDoc, typeNameOf } from '../values/types.js';

/** The target of `$out` or `$merge`. */
interface WriteTarget {
  readonly database: string | undefined;
  readonly collection: string;
}

/** The plan of `$out`: the results replace the collection atomically. */
export interface OutPlan {
  readonly kind: 'out';
  readonly into: WriteTarget;
}

/**
 * The plan of `$merge`. Each result is matched with the collection by `_id`. `matched` is the
 * action if a document with that `_id` exists, and `notMatched` the action if none exists. The
 * results are written in order.
 */
export interface MergePlan {
  readonly kind: 'merge';
  readonly into: WriteTarget;
  readonly matched: (typeof matchedModes)[number];
  readonly notMatched: (typeof notMatchedModes)[number];
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

/**
 * Parses the argument of `$merge`.
 * @throws MongoError 51182, 40415, 40414, 51178 or 2 for an invalid argument, 51181 for an
 * unsupported combination of modes, 238 for `let`, for a pipeline in `whenMatched`, or for fields
 * other than `_id`.
 */
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
  const { on = '_id', whenMatched = 'merge', whenNotMatched = 'insert' } = options;
  if (Array.isArray(whenMatched) || 'let' in options) {
    throw new MongoError(238, '$merge with a pipeline in whenMatched is not supported by embedded-mongo');
  }
  if (String(on) !== '_id') {
    throw new MongoError(238, "$merge on fields other than '_id' is not supported by embedded-mongo");
  }
  const into = mergeTarget(options.into);
  const matched = modeOf('whenMatched', whenMatched, matchedModes);
  const notMatched = modeOf('whenNotMatched', whenNotMatched, notMatchedModes);
  if ((matched === 'keepExisting' || matched === 'fail') && notMatched !== 'insert') {
    const combination = `{whenMatched: ${matched}} and {whenNotMatched: ${notMatched}}`;
    throw new MongoError(51181, `Combination of ${combination} is not supported`);
  }
  return { kind: 'merge', into, matched, notMatched };
}

function modeOf<Mode extends string>(field: string, value: unknown, modes: readonly Mode[]): Mode {
  const mode = modes.find((known) => known === value);
  if (mode === undefined) {
    throw new MongoError(
      2,
      `Enumeration value '${String(value)}' for field '$merge.${field}' is not a valid value.`,
    );
  }
  return mode;
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
