import { MongoError } from '../errors.js';
import { typeNameOf } from '../values/types.js';
import { isNullish, integerOf } from './coerce.js';
import { combine, constant, namedOperands } from './operator.js';
import type { OperatorCompiler } from './operator.js';

/** An operator `{n, input}` on an array: `$firstN`, `$lastN`, `$minN`, `$maxN`. */
export function nOfArray(pick: (list: readonly unknown[], n: number) => unknown): OperatorCompiler {
  return (argument, call) => {
    const { n = constant(null), input = constant(null) } = namedOperands(argument, call, {
      keys: ['n', 'input'],
      required: { n: 5787906, input: 5787907 },
      notObject: 5787900,
      unknownKey: 5787901,
    });
    return combine([n, input], (root) => {
      const list = input.evaluate(root);
      if (isNullish(list)) {
        return null;
      }
      if (!Array.isArray(list)) {
        throw new MongoError(5788200, `Input must be an array, but is of type: ${typeNameOf(list)}`);
      }
      return pick(list, positiveCount(n.evaluate(root)));
    });
  };
}

/** The `n` of an N-accumulator or expression: a positive integer. Errors 5787902, 5787903 and 5787908. */
export function positiveCount(n: unknown): number {
  const count = integerOf(n);
  if (count === undefined) {
    throw new MongoError(5787902, `Value for 'n' must be of integral type, but found ${typeNameOf(n)}`);
  }
  if (count <= 0) {
    throw new MongoError(5787908, `'n' must be greater than 0, found ${count}`);
  }
  return count;
}
