import { BSONRegExp } from 'bson';
import { MongoError } from '../../errors.js';
import { keysOf } from '../../values/fields.js';
import { visitPath } from '../../values/paths.js';
import { isDoc, typeNameOf, type Doc } from '../../values/types.js';
import { compileExpression } from '../expression.js';
import { parsePath } from '../field-path.js';
import type { Expression, Scope } from '../operator.js';
import { checkVariableName, createCell, withVariables, type Cell } from '../scope.js';
import { mapping, type Collections, type Stage, type StageCall } from '../stage.js';
import { valueKey } from '../value-key.js';
import { withPath } from '../with-path.js';

const options = ['from', 'as', 'localField', 'foreignField', 'let', 'pipeline'];

/**
 * `$lookup`: by equality of two fields, by a pipeline, or both. Equality is that of filters: null matches
 * missing, arrays match by element. Errors 9 (FailedToParse) and those of paths, variables and stages.
 */
export function compileLookup(specification: unknown, call: StageCall): Stage {
  const { from, as, local, pipeline } = parseLookup(specification);
  const find = local === undefined ? undefined : equalityFinder(local, from, call.collections);
  if (pipeline === undefined) {
    return mapping((document) => withPath(document, as, find?.(document) ?? []));
  }
  const run = pipelineRunner(pipeline, from, call);
  return mapping((document) => withPath(document, as, run(document, find?.(document))));
}

interface Lookup {
  readonly from: string;
  readonly as: readonly string[];
  readonly local: EqualityFields | undefined;
  readonly pipeline: LookupPipeline | undefined;
}

interface EqualityFields {
  readonly localField: string;
  readonly foreignField: string;
}

interface LookupPipeline {
  readonly stages: readonly unknown[];
  readonly variables: Doc;
}

function parseLookup(specification: unknown): Lookup {
  if (!isDoc(specification)) {
    throw new MongoError(9, 'the $lookup specification must be an Object');
  }
  const unknown = keysOf(specification).find((key) => !options.includes(key));
  if (unknown !== undefined) {
    throw new MongoError(9, `unknown argument to $lookup: ${unknown}`);
  }
  const { as, localField, foreignField, pipeline, let: variables } = specification;
  if (typeof as !== 'string') {
    throw new MongoError(9, "must specify 'as' field for a $lookup");
  }
  if ((localField === undefined) !== (foreignField === undefined)) {
    throw new MongoError(
      9,
      '$lookup requires both or neither of "localField" and "foreignField" to be specified',
    );
  }
  if (localField === undefined && pipeline === undefined) {
    throw new MongoError(
      9,
      '$lookup requires either "pipeline" or both "localField" and "foreignField" to be specified',
    );
  }
  if (variables !== undefined && pipeline === undefined) {
    throw new MongoError(9, "$lookup with a 'let' argument must also specify 'pipeline'");
  }
  return {
    from: foreignCollection(specification.from),
    as: parsePath(as),
    local: localField === undefined ? undefined : equalityFields(localField, foreignField),
    pipeline: pipeline === undefined ? undefined : lookupPipeline(pipeline, variables),
  };
}

function foreignCollection(from: unknown): string {
  if (typeof from !== 'string' || from === '') {
    throw new MongoError(9, `$lookup argument 'from' must be a string, found ${typeNameOf(from)}`);
  }
  return from;
}

function equalityFields(localField: unknown, foreignField: unknown): EqualityFields {
  if (typeof localField !== 'string' || typeof foreignField !== 'string') {
    throw new MongoError(9, "$lookup arguments 'localField' and 'foreignField' must be strings");
  }
  parsePath(foreignField);
  return { localField, foreignField };
}

function lookupPipeline(pipeline: unknown, variables: unknown = {}): LookupPipeline {
  if (!Array.isArray(pipeline)) {
    throw new MongoError(14, "'pipeline' option must be specified as an array");
  }
  if (!isDoc(variables)) {
    throw new MongoError(9, `$lookup argument 'let' must be an object, is type ${typeNameOf(variables)}`);
  }
  return { stages: pipeline, variables };
}

/** Finds the documents whose field equals the local one; the same values are looked up once. */
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
 * The values that a document offers to a join: those at the path, through arrays, an array at its end by elements. A path
 * that leads to no value at all (an empty array too) offers null.
 */
function localValues(document: Doc, parts: readonly string[]): unknown[] {
  const values: unknown[] = [];
  visitPath(document, parts, true, (value, present) => {
    // Not push(...value): an array of a document may have more elements than a call takes arguments.
    for (const each of Array.isArray(value) ? (value as unknown[]) : present ? [value] : []) {
      values.push(each);
    }
    return false;
  });
  return values.length === 0 ? [null] : values;
}

function equalityFilter(field: string, values: readonly unknown[]): Doc {
  // Regexes are values here, which they are for $eq only.
  return values.length === 1 || values.some((value) => value instanceof BSONRegExp)
    ? { $or: values.map((value) => ({ [field]: { $eq: value } })) }
    : { [field]: { $in: values } };
}

interface Binding {
  readonly expression: Expression;
  readonly cell: Cell;
}

/** Binds the variables of `let` to each document and runs the pipeline over the candidates. */
function pipelineRunner(
  { stages, variables }: LookupPipeline,
  from: string,
  call: StageCall,
): (document: Doc, candidates: readonly Doc[] | undefined) => readonly Doc[] {
  const bindings: Binding[] = [];
  const cells: [string, Expression][] = [];
  for (const name of keysOf(variables)) {
    checkVariableName(name);
    const cell = createCell();
    bindings.push({ expression: compileExpression(variables[name], call.scope), cell });
    cells.push([name, cell.expression]);
  }
  const scope: Scope = withVariables(call.scope, cells);
  const inner = call.compilePipeline(stages, scope, '$lookup');
  // Without variables the result is the same for every document.
  let same: readonly Doc[] | undefined;
  return (document, candidates) => {
    if (candidates === undefined && bindings.length === 0) {
      return (same ??= [...inner(call.collections.documents(from))]);
    }
    const values = bindings.map(({ expression }) => expression.evaluate(document));
    bindings.forEach(({ cell }, index) => (cell.value = values[index]));
    return [...inner(candidates ?? call.collections.documents(from))];
  };
}
