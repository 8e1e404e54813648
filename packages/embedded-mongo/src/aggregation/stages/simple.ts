import { MongoError } from '../../errors.js';
import { compileFilter } from '../../query/compile-filter.js';
import { keysOf } from '../../values/fields.js';
import { isDoc, isNumeric, typeNameOf, type Doc } from '../../values/types.js';
import { compileAddFields } from '../add-fields.js';
import { longOf } from '../coerce.js';
import { compileExpression } from '../expression.js';
import { parseProjection } from '../projection.js';
import { compileSort } from '../sort-pattern.js';
import { createMapStage, type Stage, type StageCall, type StageCompiler } from '../stage.js';

/** Stages that process one document at a time, and stages that count documents. */
export const simpleStages: Readonly<Record<string, StageCompiler>> = {
  $match: compileMatch,
  $project: (specification, call) => {
    if (!isDoc(specification)) {
      throw new MongoError(15969, '$project specification must be an object');
    }
    if (keysOf(specification).length === 0) {
      throw new MongoError(
        51272,
        'Invalid $project :: caused by :: projection specification must have at least one field',
      );
    }
    return createMapStage(parseProjection(specification, { scope: call.scope }));
  },
  $addFields: (specification, call) => createMapStage(compileAddFields(specification, call.name, call.scope)),
  $set: (specification, call) => createMapStage(compileAddFields(specification, call.name, call.scope)),
  $unset: compileUnset,
  $replaceRoot: (specification, call) => {
    if (!isDoc(specification)) {
      throw new MongoError(
        40229,
        `expected an object as specification for $replaceRoot stage, got ${typeNameOf(specification)}`,
      );
    }
    const unknown = keysOf(specification).find((key) => key !== 'newRoot');
    if (unknown !== undefined) {
      throw new MongoError(40415, `BSON field '$replaceRoot.${unknown}' is an unknown field.`);
    }
    if (!('newRoot' in specification)) {
      throw new MongoError(40414, "BSON field '$replaceRoot.newRoot' is missing but a required field");
    }
    return replaceRoot(specification.newRoot, call);
  },
  $replaceWith: replaceRoot,
  $sort: compileSortStage,
  $skip: compileSkip,
  $limit: compileLimit,
  $count: compileCount,
};

/** `$sort` is stable: documents with equal keys keep their order. */
function compileSortStage(specification: unknown): Stage {
  const { keyOf, compare } = compileSort(specification);
  return (input) =>
    Array.from(input, (document) => ({ document, key: keyOf(document) }))
      .sort((left, right) => compare(left.key, right.key))
      .map(({ document }) => document);
}

function compileMatch(filter: unknown, call: StageCall): Stage {
  if (!isDoc(filter)) {
    throw new MongoError(15959, 'the match filter must be an expression in an object');
  }
  const matches = compileFilter(filter, { scope: call.scope });
  return function* match(input) {
    for (const document of input) {
      if (matches(document)) {
        yield document;
      }
    }
  };
}

function compileUnset(specification: unknown, call: StageCall): Stage {
  const paths: unknown[] = Array.isArray(specification) ? specification : [specification];
  if (!Array.isArray(specification) && typeof specification !== 'string') {
    throw new MongoError(31002, '$unset specification must be a string or an array');
  }
  if (paths.length === 0) {
    throw new MongoError(31119, '$unset specification must be a string or an array with at least one field');
  }
  const projection: Doc = {};
  for (const path of paths) {
    if (typeof path !== 'string') {
      throw new MongoError(
        31120,
        '$unset specification must be a string or an array containing only string values',
      );
    }
    if (path in projection) {
      throw new MongoError(31250, `Path collision at ${path}`);
    }
    projection[path] = 0;
  }
  return createMapStage(parseProjection(projection, { scope: call.scope }));
}

function replaceRoot(expression: unknown, call: StageCall): Stage {
  const newRoot = compileExpression(expression, call.scope);
  return createMapStage((document) => {
    const root = newRoot.evaluate(document);
    if (!isDoc(root)) {
      throw new MongoError(
        40228,
        `'newRoot' expression must evaluate to an object, but resulting value was of type ${typeNameOf(root ?? null)}`,
      );
    }
    return root;
  });
}

/**
 * Returns the argument of `$skip` or `$limit`. It may have any numeric type but must be a whole
 * number.
 */
function countArgument(value: unknown, code: number, name: string): number {
  const count = longOf(value);
  if (!isNumeric(value) || count === undefined || count < 0n) {
    throw new MongoError(
      code,
      `invalid argument to ${name} stage: Expected a non-negative number in: ${name}`,
    );
  }
  return Number(count);
}

function compileSkip(specification: unknown): Stage {
  const count = countArgument(specification, 5107200, '$skip');
  return function* skip(input) {
    let skipped = 0;
    for (const document of input) {
      if (skipped < count) {
        skipped++;
      } else {
        yield document;
      }
    }
  };
}

function compileLimit(specification: unknown): Stage {
  const count = countArgument(specification, 5107201, '$limit');
  if (count === 0) {
    throw new MongoError(15958, 'the limit must be positive');
  }
  return function* limit(input) {
    let taken = 0;
    for (const document of input) {
      yield document;
      if (++taken >= count) {
        return;
      }
    }
  };
}

function compileCount(field: unknown): Stage {
  const name = countField(field);
  return function* count(input) {
    let counted = 0;
    for (const _document of input) {
      counted++;
    }
    if (counted > 0) {
      yield { [name]: counted };
    }
  };
}

function countField(field: unknown): string {
  if (typeof field !== 'string') {
    throw new MongoError(40156, 'the count field must be a non-empty string');
  }
  if (field === '') {
    throw new MongoError(40157, 'the count field must be a non-empty string');
  }
  if (field.startsWith('$')) {
    throw new MongoError(40158, 'the count field cannot be a $-prefixed path');
  }
  if (field.includes('\0')) {
    throw new MongoError(40159, 'the count field cannot contain a null byte');
  }
  if (field.includes('.')) {
    throw new MongoError(40160, "the count field cannot contain '.'");
  }
  return field;
}
