import { MongoError } from '../../errors.js';
import { keysOf, setField } from '../../values/fields.js';
import { isDoc, typeNameOf, type Doc } from '../../values/types.js';
import { isNullish } from '../coerce.js';
import { withPath } from '../with-path.js';
import {
  combineOperands,
  constantValue,
  namedOperands,
  nary,
  type Expression,
  type OperatorCall,
  type OperatorCompiler,
} from '../operator.js';

/** Operators on documents. */
export const objectOperators: Readonly<Record<string, OperatorCompiler>> = {
  $mergeObjects: compileMergeObjects,
  $setField: compileSetField,
};

/**
 * Merges a document into the target. Null and missing are skipped. The accumulator uses it too.
 * Error 40400.
 */
export function mergeInto(target: Doc, source: unknown): void {
  if (isNullish(source)) {
    return;
  }
  if (!isDoc(source)) {
    throw new MongoError(
      40400,
      `$mergeObjects requires object inputs, but input is of type ${typeNameOf(source)}`,
    );
  }
  for (const key of keysOf(source)) {
    setField(target, key, source[key]);
  }
}

function compileMergeObjects(argument: unknown, call: OperatorCall): Expression {
  return nary({ min: 0, max: Infinity }, (values) => {
    const merged: Doc = {};
    for (const value of values) {
      mergeInto(merged, value);
    }
    return merged;
  })(argument, call);
}

/** `$setField` also sets names with dots and dollar signs, which no path can express. */
function compileSetField(argument: unknown, call: OperatorCall): Expression {
  const { field, input, value } = namedOperands(argument, call, {
    required: { field: 4161102, value: 4161103, input: 4161109 },
    notObject: 4161100,
    unknownKey: 4161101,
  });
  const name = field.constant ? constantValue(field) : undefined;
  if (typeof name !== 'string') {
    throw new MongoError(4161106, `${call.name} requires 'field' to evaluate to a constant string`);
  }
  return combineOperands([input, value], (root) => {
    const document = input.evaluate(root);
    if (isNullish(document)) {
      return null;
    }
    if (!isDoc(document)) {
      throw new MongoError(4161105, `${call.name} requires 'input' to evaluate to type Object`);
    }
    return withPath(document, [name], value.evaluate(root));
  });
}
