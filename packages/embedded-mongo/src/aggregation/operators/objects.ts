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
 * Copies the fields of a document into the target, for the operator and for the accumulator
 * `$mergeObjects`. Null and missing values are skipped.
 * @throws MongoError 40400 for any other type.
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

/**
 * Compiles `$setField`, which can also set fields whose names contain dots or begin with a dollar
 * sign.
 */
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
