import { MongoError } from '../../errors.js';
import { keysOf, setField } from '../../values/fields.js';
import { isDoc, typeNameOf } from '../../values/types.js';
import type { Doc } from '../../values/types.js';
import { compileExpression } from '../expression.js';
import type { Stage, StageCall, StageCompiler } from '../stage.js';
import { compileGroup } from './group.js';
import { compileRedact } from './redact.js';
import { compileSortStage } from './sort.js';

/** Stages made of other stages or of other collections. */
export const combiningStages: Readonly<Record<string, StageCompiler>> = {
  $facet: compileFacet,
  $sortByCount: compileSortByCount,
  $unionWith: compileUnionWith,
  $redact: compileRedact,
  $documents: compileDocuments,
};

function compileFacet(specification: unknown, call: StageCall): Stage {
  if (!isDoc(specification) || keysOf(specification).length === 0) {
    throw new MongoError(
      40169,
      `the $facet specification must be a non-empty object, but found: ${typeNameOf(specification)}`,
    );
  }
  const facets = keysOf(specification).map((name) => {
    checkFacetName(name);
    const pipeline = specification[name];
    if (!Array.isArray(pipeline)) {
      throw new MongoError(
        40170,
        `arguments to $facet must be arrays, ${name} is type ${typeNameOf(pipeline)}`,
      );
    }
    return { name, run: call.compilePipeline(pipeline, call.scope, '$facet') };
  });
  return function* facet(input) {
    const documents = [...input];
    const result: Doc = {};
    for (const { name, run } of facets) {
      setField(result, name, [...run(documents)]);
    }
    yield result;
  };
}

function checkFacetName(name: string): void {
  if (name.startsWith('$')) {
    throw new MongoError(16410, `FieldPath field names may not start with '$': ${name}`);
  }
  if (name.includes('.')) {
    throw new MongoError(16412, `FieldPath field names may not contain '.': ${name}`);
  }
  if (name === '') {
    throw new MongoError(15998, 'FieldPath field names may not be empty strings.');
  }
}

function compileSortByCount(specification: unknown, call: StageCall): Stage {
  if (isDoc(specification)) {
    if (keysOf(specification)[0]?.startsWith('$') !== true) {
      throw new MongoError(
        40147,
        'the sortByCount field must be defined as a $-prefixed path or an expression inside an object',
      );
    }
  } else if (typeof specification !== 'string') {
    throw new MongoError(40149, 'the sortByCount field must be specified as a string or as an object');
  } else if (!specification.startsWith('$')) {
    throw new MongoError(
      40148,
      'the sortByCount field must be defined as a $-prefixed path or an expression inside an object',
    );
  }
  const group = compileGroup({ _id: specification, count: { $sum: 1 } }, call);
  const sort = compileSortStage({ count: -1 });
  return (input) => sort(group(input));
}

function compileUnionWith(specification: unknown, call: StageCall): Stage {
  const { coll, pipeline } = unionSource(specification);
  const run = call.compilePipeline(pipeline, call.scope, '$unionWith');
  return function* union(input) {
    yield* input;
    yield* run(coll === undefined ? [] : call.collections.documents(coll));
  };
}

function unionSource(specification: unknown): { coll: string | undefined; pipeline: unknown[] } {
  if (typeof specification === 'string') {
    return { coll: specification, pipeline: [] };
  }
  if (!isDoc(specification)) {
    throw new MongoError(
      9,
      `the $unionWith stage specification must be an object or string, but found ${typeNameOf(specification)}`,
    );
  }
  const unknown = keysOf(specification).find((key) => key !== 'coll' && key !== 'pipeline');
  if (unknown !== undefined) {
    throw new MongoError(40415, `BSON field '$unionWith.${unknown}' is an unknown field.`);
  }
  const { coll, pipeline = [] } = specification;
  if (!Array.isArray(pipeline)) {
    throw new MongoError(14, "BSON field '$unionWith.pipeline' is the wrong type, expected type 'array'");
  }
  const [first] = pipeline as unknown[];
  if (coll === undefined && !(isDoc(first) && keysOf(first)[0] === '$documents')) {
    throw new MongoError(
      9,
      '$unionWith stage without explicit collection must have a pipeline with $documents as first stage',
    );
  }
  if (coll !== undefined && typeof coll !== 'string') {
    throw new MongoError(14, "BSON field '$unionWith.coll' is the wrong type, expected type 'string'");
  }
  return { coll, pipeline };
}

/** `$documents`: the documents of an expression, which cannot look at any. */
function compileDocuments(specification: unknown, call: StageCall): Stage {
  const list = compileExpression(specification, call.scope).evaluate({});
  if (!Array.isArray(list)) {
    throw new MongoError(5858203, `an array is expected for $documents, got ${typeNameOf(list)}`);
  }
  const documents = list.map((document: unknown) => {
    if (!isDoc(document)) {
      throw new MongoError(
        40228,
        `$documents: every element must be an object, but found ${typeNameOf(document)}`,
      );
    }
    return document;
  });
  return () => documents;
}
