import { MongoError } from '../../errors.js';
import { compareValues } from '../../values/compare.js';
import { keysOf } from '../../values/fields.js';
import { toDouble } from '../../values/numbers.js';
import { isDoc, isNumeric, typeNameOf } from '../../values/types.js';
import type { Doc } from '../../values/types.js';
import { compileExpression } from '../expression.js';
import { parsePath } from '../field-path.js';
import { constant } from '../operator.js';
import type { Expression } from '../operator.js';
import { compileSort } from '../sort-pattern.js';
import type { SortPattern } from '../sort-pattern.js';
import type { Stage, StageCall } from '../stage.js';
import { valueKey } from '../value-key.js';
import { withPath } from './unwind.js';
import { compileWindowFunction } from './window-functions.js';
import type { Partition, WindowContext, WindowFunction } from './window-functions.js';

interface Windows {
  readonly partitionBy: Expression;
  readonly pattern: SortPattern | undefined;
  readonly outputs: readonly { readonly path: readonly string[]; readonly compute: WindowFunction }[];
}

/** `$setWindowFields`: the results come partition by partition, each in the order of `sortBy`. */
export function compileSetWindowFields(specification: unknown, call: StageCall): Stage {
  if (!isDoc(specification)) {
    throw new MongoError(
      9,
      `the $setWindowFields stage specification must be an object, found ${typeNameOf(specification)}`,
    );
  }
  const unknown = keysOf(specification).find((key) => !['partitionBy', 'sortBy', 'output'].includes(key));
  if (unknown !== undefined) {
    throw new MongoError(40415, `BSON field '$setWindowFields.${unknown}' is an unknown field.`);
  }
  const { partitionBy = null, sortBy, output } = specification;
  if (!isDoc(output)) {
    throw new MongoError(40414, "BSON field '$setWindowFields.output' is missing but a required field");
  }
  const context = windowContext(sortBy, call);
  const windows: Windows = {
    partitionBy: partitionBy === null ? constant(null) : compileExpression(partitionBy, call.scope),
    pattern: context.pattern,
    outputs: keysOf(output).map((path) => ({
      path: parsePath(path),
      compute: compileWindowFunction(output[path], context),
    })),
  };
  return (input) => computeWindows(input, windows);
}

function windowContext(sortBy: unknown, { scope }: StageCall): WindowContext {
  if (sortBy === undefined) {
    return { scope, sort: { fields: 0, ascending: true }, pattern: undefined };
  }
  const pattern = compileSort(sortBy);
  const directions = isDoc(sortBy) ? Object.values(sortBy) : [];
  const [first] = directions;
  const ascending = isNumeric(first) && toDouble(first) > 0;
  return { scope, sort: { fields: directions.length, ascending }, pattern };
}

function* computeWindows(input: Iterable<Doc>, { partitionBy, pattern, outputs }: Windows): Iterable<Doc> {
  for (const partition of partitionsOf(input, partitionBy, pattern)) {
    const columns = outputs.map(({ path, compute }) => ({ path, values: compute(partition) }));
    for (let position = 0; position < partition.documents.length; position++) {
      let document = partition.documents[position] ?? {};
      for (const { path, values } of columns) {
        document = withPath(document, path, values[position] ?? null);
      }
      yield document;
    }
  }
}

interface Entry {
  readonly document: Doc;
  readonly key: readonly unknown[];
}

/** The partitions in the order of their values, each sorted. Error 14 for an array as a partition's value. */
function partitionsOf(input: Iterable<Doc>, by: Expression, pattern: SortPattern | undefined): Partition[] {
  const groups = new Map<unknown, { readonly value: unknown; readonly entries: Entry[] }>();
  for (const document of input) {
    const value = by.evaluate(document) ?? null;
    if (Array.isArray(value)) {
      throw new MongoError(14, 'An expression used to partition cannot evaluate to value of type array');
    }
    const key = valueKey(value);
    let group = groups.get(key);
    if (group === undefined) {
      group = { value, entries: [] };
      groups.set(key, group);
    }
    group.entries.push({ document, key: pattern?.keyOf(document) ?? [] });
  }
  return [...groups.values()]
    .sort((left, right) => compareValues(left.value, right.value))
    .map(({ entries }) => {
      if (pattern !== undefined) {
        entries.sort((left, right) => pattern.compare(left.key, right.key));
      }
      return {
        documents: entries.map(({ document }) => document),
        keys: entries.map(({ key }) => key),
        sortValues: entries.map(({ key }) => key[0]),
      };
    });
}
