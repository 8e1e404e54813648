import { MongoError } from '../errors.js';
import { typeNameOf, type Doc } from '../values/types.js';
import { isNullish } from './coerce.js';
import { parseDayOfWeek, parseTimeUnit, type TimeUnit } from './dates/calendar.js';
import { UTC, findZone, type Zone } from './dates/zone.js';
import { constantValue, type Expression } from './operator.js';

/** An operand of a date operator, checked; null if it is null or missing. */
export type Operand<T> = (root: Doc) => T | null;

/** Checks a constant operand once, any other for each document. */
function operand<T>(expression: Expression, read: (value: unknown) => T): Operand<T> {
  const nullable = (value: unknown): T | null => (isNullish(value) ? null : read(value));
  if (expression.constant) {
    const value = nullable(constantValue(expression));
    return () => value;
  }
  return (root) => nullable(expression.evaluate(root));
}

/** The `timezone` of a date operator, UTC if there is none. Errors 40517 and 40485. */
export function zoneOperand(expression: Expression | undefined): Operand<Zone> {
  if (expression === undefined) {
    return () => UTC;
  }
  return operand(expression, (value) => {
    if (typeof value !== 'string') {
      throw new MongoError(40517, `timezone must evaluate to a string, found ${typeNameOf(value)}`);
    }
    return findZone(value);
  });
}

/** The `unit` of a date operator. Errors 5439013 and 9. */
export function unitOperand(expression: Expression, operator: string): Operand<TimeUnit> {
  return operand(expression, (value) => {
    if (typeof value !== 'string') {
      throw new MongoError(
        5439013,
        `${operator} requires 'unit' to be a string, but got ${typeNameOf(value)}`,
      );
    }
    return parseTimeUnit(value, operator);
  });
}

/** The `startOfWeek` of a date operator, Sunday (7) if there is none. Errors 5439015 and 5439016. */
export function weekStartOperand(expression: Expression | undefined, operator: string): Operand<number> {
  if (expression === undefined) {
    return () => 7;
  }
  return operand(expression, (value) => {
    if (typeof value !== 'string') {
      throw new MongoError(
        5439015,
        `${operator} requires 'startOfWeek' to be a string, but got ${typeNameOf(value)}`,
      );
    }
    return parseDayOfWeek(value, operator);
  });
}
