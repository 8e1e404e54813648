import { MongoError } from '../../errors.js';
import { typeNameOf } from '../../values/types.js';
import { coerceToString, isNullish } from '../coerce.js';
import { nary, unary, type Expression, type OperatorCall, type OperatorCompiler } from '../operator.js';

/** Operators on strings. */
export const stringOperators: Readonly<Record<string, OperatorCompiler>> = {
  $concat: compileConcat,
  // As in MongoDB, only ASCII letters change.
  $toLower: unary((value) => coerceToString(value).replace(/[A-Z]+/g, (part) => part.toLowerCase())),
  $toUpper: unary((value) => coerceToString(value).replace(/[a-z]+/g, (part) => part.toUpperCase())),
};

/**
 * Compiles `$concat`. If an operand is null, the result is null, and the types of the operands
 * after it are not checked.
 */
function compileConcat(argument: unknown, call: OperatorCall): Expression {
  return nary({ min: 0, max: Infinity }, (values) => {
    let joined = '';
    for (const value of values) {
      if (isNullish(value)) {
        return null;
      }
      if (typeof value !== 'string') {
        throw new MongoError(16702, `$concat only supports strings, not ${typeNameOf(value)}`);
      }
      joined += value;
    }
    return joined;
  })(argument, call);
}
