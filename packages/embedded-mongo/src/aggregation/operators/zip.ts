import { MongoError } from '../../errors.js';
import { typeNameOf } from '../../values/types.js';
import { isNullish } from '../coerce.js';
import { combine, namedArguments } from '../operator.js';
import type { Expression, OperatorCall } from '../operator.js';

interface ZipParts {
  readonly inputs: readonly Expression[];
  readonly defaults: readonly Expression[];
  readonly longest: boolean;
}

/** `$zip`: transposes arrays, to the shortest, or to the longest with defaults. */
export function compileZip(argument: unknown, call: OperatorCall): Expression {
  const { inputs, defaults, longest } = zipParts(argument, call);
  return combine([...inputs, ...defaults], (root) => {
    const lists: unknown[][] = [];
    for (const input of inputs) {
      const list = input.evaluate(root);
      if (isNullish(list)) {
        return null;
      }
      if (!Array.isArray(list)) {
        throw new MongoError(34468, `$zip found a non-array expression in input: ${typeNameOf(list)}`);
      }
      lists.push(list);
    }
    const lengths = lists.map((list) => list.length);
    const length = longest ? Math.max(...lengths) : Math.min(...lengths);
    const padding = defaults.map((expression) => expression.evaluate(root) ?? null);
    return Array.from({ length }, (_row, row) =>
      lists.map((list, column) => (row < list.length ? list[row] : (padding[column] ?? null))),
    );
  });
}

function zipParts(argument: unknown, call: OperatorCall): ZipParts {
  let [inputs, defaults, longest]: [Expression[], Expression[], boolean] = [[], [], false];
  for (const [key, value] of namedArguments(argument, call, {
    keys: ['inputs', 'defaults', 'useLongestLength'],
    required: {},
    notObject: 34460,
    unknownKey: 34464,
  })) {
    if (key === 'inputs') {
      inputs = expressionList(value, call, 34461);
    } else if (key === 'defaults') {
      defaults = expressionList(value, call, 34462);
    } else if (typeof value === 'boolean') {
      longest = value;
    } else {
      throw new MongoError(34463, `'useLongestLength' must be a bool, found ${typeNameOf(value)}`);
    }
  }
  if (inputs.length === 0) {
    throw new MongoError(34465, '$zip requires at least one input array');
  }
  if (defaults.length > 0 && !longest) {
    throw new MongoError(34466, "cannot specify 'defaults' unless 'useLongestLength' is true");
  }
  if (defaults.length > 0 && defaults.length !== inputs.length) {
    throw new MongoError(34467, 'defaults and inputs must have the same length');
  }
  return { inputs, defaults, longest };
}

function expressionList(value: unknown, call: OperatorCall, code: number): Expression[] {
  if (!Array.isArray(value)) {
    throw new MongoError(code, `$zip requires an array of expressions, found ${typeNameOf(value)}`);
  }
  return value.map((element) => call.compile(element));
}
