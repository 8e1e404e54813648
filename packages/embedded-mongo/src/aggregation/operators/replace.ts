import { MongoError } from '../../errors.js';
import { typeNameOf } from '../../values/types.js';
import { isNullish } from '../coerce.js';
import { combine, constant, namedOperands } from '../operator.js';
import type { OperatorCompiler } from '../operator.js';

/** `$replaceOne` and `$replaceAll`: `{input, find, replacement}`, null if one of them is null. */
export function replaceOperator(
  replace: (input: string, find: string, replacement: string) => string,
): OperatorCompiler {
  return (argument, call) => {
    const parts = namedOperands(argument, call, {
      keys: ['input', 'find', 'replacement'],
      required: { input: 51749, find: 51748, replacement: 51747 },
      notObject: 51751,
      unknownKey: 51750,
    });
    const { input = constant(null), find = constant(null), replacement = constant(null) } = parts;
    return combine([input, find, replacement], (root) => {
      const text = stringOrNull(input.evaluate(root), 51746, `${call.name} 'input'`);
      const sought = stringOrNull(find.evaluate(root), 51745, `${call.name} 'find'`);
      const by = stringOrNull(replacement.evaluate(root), 51744, `${call.name} 'replacement'`);
      return text === null || sought === null || by === null ? null : replace(text, sought, by);
    });
  };
}

function stringOrNull(value: unknown, code: number, what: string): string | null {
  if (isNullish(value)) {
    return null;
  }
  if (typeof value !== 'string') {
    throw new MongoError(code, `${what} must be a string, but is ${typeNameOf(value)}`);
  }
  return value;
}
