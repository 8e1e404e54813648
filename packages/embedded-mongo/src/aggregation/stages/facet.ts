import { MongoError } from '../../errors.js';
import { keysOf, setField } from '../../values/fields.js';
import { isDoc, typeNameOf, type Doc } from '../../values/types.js';
import { checkFieldName } from '../field-path.js';
import type { Stage, StageCall } from '../stage.js';

/** Compiles `$facet`, which runs several pipelines over the same documents. */
export function compileFacet(specification: unknown, call: StageCall): Stage {
  if (!isDoc(specification) || keysOf(specification).length === 0) {
    throw new MongoError(
      40169,
      `the $facet specification must be a non-empty object, but found: ${typeNameOf(specification)}`,
    );
  }
  const facets = keysOf(specification).map((name) => {
    checkFieldName(name);
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
