import { MongoError } from '../../errors.js';
import { keysOf, setField } from '../../values/fields.js';
import { isDoc, typeNameOf, type Doc } from '../../values/types.js';
import type { Stage, StageCall } from '../stage.js';

/** `$facet`: several pipelines over the same documents. */
export function compileFacet(specification: unknown, call: StageCall): Stage {
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
