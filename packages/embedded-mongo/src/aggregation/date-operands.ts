import { MongoError } from '../errors.js';
import { typeNameOf, type Doc } from '../values/types.js';
import { isNullish } from './coerce.js';
import { compileFormat, formatDefault, type DateFormatter } from './dates/format.js';
import { UTC, findZone, type Zone } from './dates/zone.js';
import { constantValue, type Expression } from './operator.js';

/** A checked operand of a date operator. It is null if the operand is null or missing. */
type Operand<T> = (root: Doc) => T | null;

/**
 * Compiles a string operand that `read` interprets. A constant string is read once. The given error
 * code applies to other types.
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

/** Compiles the `timezone` of a date operator; UTC by default. Errors 40517 and 40485. */
export function zoneOperand(timezone: Expression | undefined): Operand<Zone> {
  return timezone === undefined
    ? () => UTC
    : textOperand(timezone, { code: 40517, what: 'timezone', read: findZone });
}

/** Compiles the `format` of a date operator; ISO 8601 by default. Errors 18533, 18535 and 18536. */
export function formatOperand(format: Expression | undefined): Operand<DateFormatter> {
  return format === undefined
    ? () => formatDefault
    : textOperand(format, { code: 18533, what: "'format'", read: compileFormat });
}
