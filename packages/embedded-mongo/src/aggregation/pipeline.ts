// `compilePipeline(stages, {scope, collections})` checks the whole pipeline and throws if it is
// invalid. The compiled pipeline has three parts: `run` processes documents lazily, `prefix`
// describes the first stages, which the planner may run instead, and `write` describes the `$out`
// or `$merge` at the end.
import { MongoError } from '../errors.js';
import { keysOf } from '../values/fields.js';
import { isDoc, typeNameOf, type Doc } from '../values/types.js';
import type { Scope } from './operator.js';
import type { Collections, InsideOf, Stage } from './stage.js';
import { stages } from './stages/registry.js';
import { parseMerge, parseOut, type WritePlan } from './write-plan.js';

export interface PipelineContext {
  readonly scope: Scope;
  readonly collections: Collections;
}

/**
 * The first stages if the planner can run them as a query: any number of `$match`, then at most one
 * `$sort`.
 */
interface PipelinePrefix {
  /** The number of stages in the prefix. */
  readonly stages: number;
  readonly filter: Doc | undefined;
  readonly sort: Doc | undefined;
}

export interface CompiledPipeline {
  readonly run: (documents: Iterable<Doc>, options?: { readonly skipStages: number }) => Iterable<Doc>;
  readonly prefix: PipelinePrefix;
  readonly write: WritePlan | undefined;
}

const stagesMax = 1000;

/**
 * Checks and compiles a pipeline.
 * @throws MongoError 14 if it is not an array of objects, 40323 if a stage has several fields or
 * none, 40324 for an unknown stage, 40601 for a stage in the wrong position, and the errors of
 * stages and expressions. A constant expression that fails throws here too.
 */
export function compilePipeline(pipeline: unknown, context: PipelineContext): CompiledPipeline {
  const specifications = parseStages(pipeline);
  const last = specifications.at(-1);
  const write = last === undefined ? undefined : parseWrite(last);
  const reading = write === undefined ? specifications : specifications.slice(0, -1);
  const compiled = compileStages(reading, context, undefined);
  return {
    run: (documents, options) => runStages(compiled.slice(options?.skipStages ?? 0), documents),
    prefix: prefixOf(reading),
    write,
  };
}

interface StageSpecification {
  readonly name: string;
  readonly value: unknown;
}

function parseStages(pipeline: unknown): StageSpecification[] {
  if (!Array.isArray(pipeline)) {
    throw new MongoError(14, "'pipeline' option must be specified as an array");
  }
  if (pipeline.length > stagesMax) {
    throw new MongoError(5054701, `Pipeline length must be no longer than ${stagesMax} stages.`);
  }
  return pipeline.map((stage: unknown) => {
    if (!isDoc(stage)) {
      throw new MongoError(
        14,
        `Each element of the 'pipeline' array must be an object, found ${typeNameOf(stage)}`,
      );
    }
    const [name, ...others] = keysOf(stage);
    if (name === undefined || others.length > 0) {
      throw new MongoError(40323, 'A pipeline stage specification object must contain exactly one field.');
    }
    return { name, value: stage[name] };
  });
}

function parseWrite({ name, value }: StageSpecification): WritePlan | undefined {
  if (name === '$out') {
    return parseOut(value);
  }
  return name === '$merge' ? parseMerge(value) : undefined;
}

const refusedInside: Readonly<Record<InsideOf, readonly string[]>> = {
  $facet: ['$out', '$merge', '$facet'],
  $lookup: ['$out', '$merge'],
};
const refusalCodes: Readonly<Record<InsideOf, number>> = { $facet: 40600, $lookup: 51047 };

function compileStages(
  specifications: readonly StageSpecification[],
  context: PipelineContext,
  inside: InsideOf | undefined,
): Stage[] {
  return specifications.map(({ name, value }) => {
    if (inside !== undefined && refusedInside[inside].includes(name)) {
      throw new MongoError(
        refusalCodes[inside],
        `${name} is not allowed to be used within a ${inside} stage`,
      );
    }
    if (name === '$out' || name === '$merge') {
      throw new MongoError(40601, `${name} can only be the final stage in the pipeline`);
    }
    const compiler = stages.get(name);
    if (compiler === undefined) {
      throw new MongoError(40324, `Unrecognized pipeline stage name: '${name}'`);
    }
    return compiler(value, {
      name,
      scope: context.scope,
      collections: context.collections,
      compilePipeline: (pipeline, scope, insideOf) => {
        const inner = compileStages(parseStages(pipeline), { ...context, scope }, insideOf);
        return (documents) => runStages(inner, documents);
      },
    });
  });
}

function runStages(compiled: readonly Stage[], documents: Iterable<Doc>): Iterable<Doc> {
  return compiled.reduce((input, stage) => stage(input), documents);
}

/**
 * Finds the `$match` stages at the start and a `$sort` directly after them. The planner runs them
 * as a query, through an index if possible.
 */
function prefixOf(specifications: readonly StageSpecification[]): PipelinePrefix {
  const filters: Doc[] = [];
  let at = 0;
  for (; specifications[at]?.name === '$match'; at++) {
    const filter = specifications[at]?.value;
    if (isDoc(filter)) {
      filters.push(filter);
    }
  }
  const next = specifications[at];
  const sort = next?.name === '$sort' && isDoc(next.value) ? next.value : undefined;
  return {
    stages: sort === undefined ? at : at + 1,
    filter: filters.length <= 1 ? filters[0] : { $and: filters },
    sort,
  };
}

const updateStages = ['$addFields', '$set', '$project', '$unset', '$replaceRoot', '$replaceWith'];
const noCollections: Collections = { lookup: () => [] };

/**
 * Compiles the pipeline of an update.
 * @throws MongoError 72 for a stage that is not allowed in an update, 40324 for an unknown stage.
 */
export function compileUpdatePipeline(pipeline: unknown, scope: Scope): (document: Doc) => Doc {
  const specifications = parseStages(pipeline);
  for (const { name } of specifications) {
    if (!updateStages.includes(name) && (stages.has(name) || name === '$out' || name === '$merge')) {
      throw new MongoError(72, `${name} is not allowed to be used within an update`);
    }
  }
  const compiled = compileStages(specifications, { scope, collections: noCollections }, undefined);
  return (document) => {
    const [updated = document] = runStages(compiled, [document]);
    return updated;
  };
}
