import { MongoError } from '../../errors.js';
import { keysOf, setField } from '../../values/fields.js';
import { isDoc, typeNameOf, type Doc } from '../../values/types.js';
import { isNullish } from '../coerce.js';
import { nary, type Expression, type OperatorCall, type OperatorCompiler } from '../operator.js';

/** Operators on documents. */
export const objectOperators: Readonly<Record<string, OperatorCompiler>> = {
  $mergeObjects: compileMergeObjects,
};

/** Merges documents, null and missing skipped; also used by the accumulator. Error 40400. */
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
