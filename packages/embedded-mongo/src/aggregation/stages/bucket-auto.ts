import { MongoError } from '../../errors.js';
import { compareValues } from '../../values/compare.js';
import { keysOf } from '../../values/fields.js';
import { isDoc, isNumeric, typeNameOf } from '../../values/types.js';
import type { Doc } from '../../values/types.js';
import { integerOf } from '../coerce.js';
import type { Expression } from '../operator.js';
import type { Stage, StageCall } from '../stage.js';
import { groupExpression } from './bucket.js';
import { accumulate, compileOutput, outputDocument } from './group.js';
import type { OutputField } from './group.js';

/** `$bucketAuto`: ranges of about equal numbers of documents. Errors 40239 to 40246. */
export function compileBucketAuto(specification: unknown, call: StageCall): Stage {
  if (!isDoc(specification)) {
    throw new MongoError(
      40240,
      `The argument to $bucketAuto must be an object, but found type: ${typeNameOf(specification)}`,
    );
  }
  const unknown = keysOf(specification).find(
    (key) => !['groupBy', 'buckets', 'output', 'granularity'].includes(key),
  );
  if (unknown !== undefined) {
    throw new MongoError(40245, `Unrecognized option to $bucketAuto: ${unknown}`);
  }
  const { groupBy, buckets, output, granularity } = specification;
  if (granularity !== undefined) {
    throw new MongoError(238, "$bucketAuto with 'granularity' is not supported by embedded-mongo");
  }
  if (groupBy === undefined || buckets === undefined) {
    throw new MongoError(40246, "$bucketAuto requires 'groupBy' and 'buckets' to be specified");
  }
  const by = groupExpression(groupBy, call, 40239);
  const count = bucketCount(buckets);
  const outputs = compileOutput(output, { scope: call.scope, code: 40244, stage: '$bucketAuto' });
  return (input) => bucketDocuments(input, { by, count, outputs });
}

function bucketCount(buckets: unknown): number {
  if (!isNumeric(buckets)) {
    throw new MongoError(
      40241,
      `The $bucketAuto 'buckets' field must be a numeric value, but found type: ${typeNameOf(buckets)}`,
    );
  }
  const count = integerOf(buckets);
  if (count === undefined) {
    throw new MongoError(40242, "The $bucketAuto 'buckets' field must be representable as a 32-bit integer");
  }
  if (count <= 0) {
    throw new MongoError(
      40243,
      `The $bucketAuto 'buckets' field must be greater than 0, but found: ${count}`,
    );
  }
  return count;
}

interface Entry {
  readonly value: unknown;
  readonly document: Doc;
}

function bucketDocuments(
  input: Iterable<Doc>,
  {
    by,
    count,
    outputs,
  }: { readonly by: Expression; readonly count: number; readonly outputs: readonly OutputField[] },
): Doc[] {
  const entries: Entry[] = [];
  for (const document of input) {
    entries.push({ value: by.evaluate(document) ?? null, document });
  }
  entries.sort((left, right) => compareValues(left.value, right.value));
  const slices = cut(entries, count);
  return slices.map((slice, index) => {
    const min = slice[0]?.value;
    // A bucket ends where the next begins; the last one at its own greatest value.
    const max = slices[index + 1]?.[0]?.value ?? slice.at(-1)?.value;
    const id = { min, max };
    const states = outputs.map(({ plan }) => plan.create(id));
    for (const { document } of slice) {
      accumulate(states, outputs, document);
    }
    return outputDocument(id, states, outputs);
  });
}

/** Cuts a sorted list into at most `count` parts of equal size, equal values never apart. */
function cut(entries: readonly Entry[], count: number): Entry[][] {
  const size = Math.max(1, Math.round(entries.length / count));
  const slices: Entry[][] = [];
  let at = 0;
  while (at < entries.length) {
    let end = slices.length === count - 1 ? entries.length : Math.min(entries.length, at + size);
    while (end < entries.length && compareValues(entries[end]?.value, entries[end - 1]?.value) === 0) {
      end++;
    }
    slices.push(entries.slice(at, end));
    at = end;
  }
  return slices;
}
