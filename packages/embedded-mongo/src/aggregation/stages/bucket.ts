import type { Accumulator } from '../accumulators/accumulator.js';
import { MongoError } from '../../errors.js';
import { compareValues, orderOf } from '../../values/compare.js';
import { keysOf } from '../../values/fields.js';
import { isDoc, typeNameOf, typeOf } from '../../values/types.js';
import type { Doc } from '../../values/types.js';
import { compileExpression } from '../expression.js';
import { constantValue } from '../operator.js';
import type { Expression } from '../operator.js';
import type { Stage, StageCall } from '../stage.js';
import { accumulate, compileOutput, outputDocument } from './group.js';
import type { OutputField } from './group.js';

/** `$bucket`: groups by the half-open ranges between boundaries. Errors 40192 to 40202, 40066. */
export function compileBucket(specification: unknown, call: StageCall): Stage {
  if (!isDoc(specification)) {
    throw new MongoError(
      40201,
      `Argument to $bucket stage must be an object, but found type: ${typeNameOf(specification)}.`,
    );
  }
  const unknown = keysOf(specification).find(
    (key) => !['groupBy', 'boundaries', 'default', 'output'].includes(key),
  );
  if (unknown !== undefined) {
    throw new MongoError(40197, `Unrecognized option to $bucket: ${unknown}.`);
  }
  const { groupBy, boundaries: limits } = specification;
  if (groupBy === undefined || limits === undefined) {
    throw new MongoError(40198, "$bucket requires 'groupBy' and 'boundaries' to be specified.");
  }
  const by = groupExpression(groupBy, call, 40202);
  const boundaries = parseBoundaries(limits, call);
  const otherwise =
    'default' in specification ? parseDefault(specification.default, boundaries, call) : undefined;
  const outputs = compileOutput(specification.output, { scope: call.scope, code: 40196, stage: '$bucket' });
  return (input) => bucketDocuments(input, { by, boundaries, otherwise, outputs });
}

/** `groupBy` is a path or an expression, never another literal. */
export function groupExpression(groupBy: unknown, call: StageCall, code: number): Expression {
  const isPath = typeof groupBy === 'string' && groupBy.startsWith('$');
  const isExpression = isDoc(groupBy) && keysOf(groupBy)[0]?.startsWith('$') === true;
  if (!isPath && !isExpression) {
    throw new MongoError(
      code,
      `The ${call.name} 'groupBy' field must be defined as a $-prefixed path or an expression object`,
    );
  }
  return compileExpression(groupBy, call.scope);
}

function constantOf(value: unknown, call: StageCall, code: number): unknown {
  const expression = compileExpression(value, call.scope);
  if (!expression.constant) {
    throw new MongoError(code, `The ${call.name} values must be constant expressions`);
  }
  return constantValue(expression);
}

function parseBoundaries(value: unknown, call: StageCall): unknown[] {
  if (!Array.isArray(value)) {
    throw new MongoError(
      40200,
      `The $bucket 'boundaries' field must be an array, but found type: ${typeNameOf(value)}.`,
    );
  }
  const boundaries = value.map((boundary: unknown) => constantOf(boundary, call, 40191));
  if (boundaries.length < 2) {
    throw new MongoError(
      40192,
      `The $bucket 'boundaries' field must have at least 2 values, but found ${boundaries.length} value(s).`,
    );
  }
  for (let index = 1; index < boundaries.length; index++) {
    const [lower, upper] = [boundaries[index - 1], boundaries[index]];
    if (orderOf(typeOf(lower)) !== orderOf(typeOf(upper))) {
      throw new MongoError(
        40193,
        `All values in the 'boundaries' option to $bucket must have the same type.`,
      );
    }
    if (compareValues(lower, upper) >= 0) {
      throw new MongoError(40194, `The 'boundaries' option to $bucket must be sorted in ascending order.`);
    }
  }
  return boundaries;
}

interface DefaultBucket {
  readonly id: unknown;
}

function parseDefault(value: unknown, boundaries: readonly unknown[], call: StageCall): DefaultBucket {
  const id = constantOf(value, call, 40195) ?? null;
  if (compareValues(id, boundaries[0]) >= 0 && compareValues(id, boundaries.at(-1)) < 0) {
    throw new MongoError(
      40199,
      "The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the highest boundary.",
    );
  }
  return { id };
}

interface Buckets {
  readonly by: Expression;
  readonly boundaries: readonly unknown[];
  readonly otherwise: DefaultBucket | undefined;
  readonly outputs: readonly OutputField[];
}

function bucketDocuments(input: Iterable<Doc>, { by, boundaries, otherwise, outputs }: Buckets): Doc[] {
  const states = new Map<number, readonly Accumulator[]>();
  for (const document of input) {
    const index = bucketIndex(by.evaluate(document) ?? null, boundaries);
    if (index === -1 && otherwise === undefined) {
      throw new MongoError(
        40066,
        '$switch could not find a matching branch for an input, and no default was specified.',
      );
    }
    let bucket = states.get(index);
    if (bucket === undefined) {
      const id = index === -1 ? otherwise?.id : boundaries[index];
      bucket = outputs.map(({ plan }) => plan.create(id));
      states.set(index, bucket);
    }
    accumulate(bucket, outputs, document);
  }
  return [...states]
    .map(([index, bucket]) =>
      outputDocument(index === -1 ? otherwise?.id : boundaries[index], bucket, outputs),
    )
    .sort((left, right) => compareValues(left._id, right._id));
}

/** The last boundary that is not above the value, by binary search; -1 outside of all. */
function bucketIndex(value: unknown, boundaries: readonly unknown[]): number {
  if (compareValues(value, boundaries[0]) < 0 || compareValues(value, boundaries.at(-1)) >= 0) {
    return -1;
  }
  let [low, high] = [0, boundaries.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (compareValues(value, boundaries[middle]) < 0) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return low;
}
