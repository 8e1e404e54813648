import { MongoError } from '../errors.js';
import { typeNameOf, type Doc } from '../values/types.js';
import { isNullish } from './coerce.js';
import { compileFormat, formatDefault, type DateFormatter } from './dates/format.js';
import { UTC, findZone, type Zone } from './dates/zone.js';
import { constantValue, type Expression } from './operator.js';

/**
 * Evaluates an operand of a date operator and checks it. Returns null if the operand is null or
 * missing.
 */
type Operand<T> = (root: Doc) => T | null;

/**
 * Compiles an operand that must be a string. `read` parses the string; a constant string is parsed
 * only once.
 * @throws MongoError with the given code for any other type.
 */
function textOperand<T>(
  expression: Expression,
  { code, what, read }: { readonly code: number; readonly what: string; readonly read: (text: string) => T },
): Operand<T> {
  const valueOf = (value: unknown): T | null => {
    if (isNullish(value)) {
      return null;
    }
    if (typeof value !== 'string') {
      throw new MongoError(code, `${what} must be a string, found ${typeNameOf(value)}`);
    }
    return read(value);
  };
  if (expression.constant) {
    const value = valueOf(constantValue(expression));
    return () => value;
  }
  return (root) => valueOf(expression.evaluate(root));
}

/**
 * Compiles the `timezone` of a date operator. The default is UTC.
 * @throws MongoError 40517 if the operand is not a string, 40485 if the time zone is unknown.
 */
export function zoneOperand(timezone: Expression | undefined): Operand<Zone> {
  return timezone === undefined
    ? () => UTC
    : textOperand(timezone, { code: 40517, what: 'timezone', read: findZone });
}

/**
 * Compiles the `format` of a date operator. The default is ISO 8601.
 * @throws MongoError 18533 if the operand is not a string, and the errors of `compileFormat`.
 */
export function formatOperand(format: Expression | undefined): Operand<DateFormatter> {
  return format === undefined
    ? () => formatDefault
    : textOperand(format, { code: 18533, what: "'format'", read: compileFormat });
}
