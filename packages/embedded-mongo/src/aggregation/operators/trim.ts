import { MongoError } from '../../errors.js';
import { typeNameOf } from '../../values/types.js';
import { codePoints, isNullish } from '../coerce.js';
import { combine, constant, namedOperands } from '../operator.js';
import type { OperatorCompiler } from '../operator.js';

interface Ends {
  readonly start: boolean;
  readonly end: boolean;
}

/** `$trim`, `$ltrim` and `$rtrim`: `{input, chars}`, without `chars` of white space. */
export function trimOperator(ends: Ends): OperatorCompiler {
  return (argument, call) => {
    const { input = constant(null), chars } = namedOperands(argument, call, {
      keys: ['input', 'chars'],
      required: { input: 50695 },
      notObject: 50696,
      unknownKey: 50694,
    });
    return combine(chars === undefined ? [input] : [input, chars], (root) => {
      const text = input.evaluate(root);
      if (isNullish(text)) {
        return null;
      }
      if (typeof text !== 'string') {
        throw new MongoError(
          50699,
          `${call.name} requires its input to be a string, got ${typeNameOf(text)}`,
        );
      }
      if (chars === undefined) {
        return trimmed(text, whiteSpace, ends);
      }
      const unwanted = chars.evaluate(root);
      if (isNullish(unwanted)) {
        return null;
      }
      if (typeof unwanted !== 'string') {
        throw new MongoError(
          50700,
          `${call.name} requires 'chars' to be a string, got ${typeNameOf(unwanted)}`,
        );
      }
      return trimmed(text, new Set(unwanted), ends);
    });
  };
}

// What MongoDB trims by default: NUL, ASCII white space, and the spaces of Unicode up to U+200A.
const whiteSpace: ReadonlySet<string> = new Set(
  [0x0000, 0x0020, 0x0009, 0x000a, 0x000b, 0x000c, 0x000d, 0x00a0, 0x1680]
    .concat(Array.from({ length: 11 }, (_, index) => 0x2000 + index))
    .map((code) => String.fromCharCode(code)),
);

function trimmed(text: string, unwanted: ReadonlySet<string>, ends: Ends): string {
  const points = codePoints(text);
  let [start, end] = [0, points.length];
  while (ends.start && start < end && unwanted.has(points[start] ?? '')) {
    start++;
  }
  while (ends.end && end > start && unwanted.has(points[end - 1] ?? '')) {
    end--;
  }
  return points.slice(start, end).join('');
}
