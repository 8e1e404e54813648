import type { Timestamp } from 'bson';
import { MongoError } from '../errors.js';
import { compareValues } from '../values/compare.js';
import { keysOf } from '../values/fields.js';
import { addNumbers, multiplyNumbers } from '../values/numbers.js';
import { isDoc, isNumeric, typeNameOf, type Numeric } from '../values/types.js';
import { REMOVE, type Modifier, type ModifierContext, type ModifierParser } from './modifier.js';

export const set: ModifierParser = (operand) => ({ change: () => operand, create: () => operand });

export const setOnInsert: ModifierParser = (operand) => ({
  change: () => operand,
  create: () => operand,
  insertOnly: true,
});

export const unset: ModifierParser = () => ({ change: () => REMOVE, toleratesBlockedPath: true });

export const inc: ModifierParser = (operand, path) =>
  arithmetic('$inc', numberOperand('increment', operand, path), addNumbers, (number) => number);

/** Compiles `$mul`. A missing field is treated as an int32 zero. */
export const mul: ModifierParser = (operand, path) =>
  arithmetic('$mul', numberOperand('multiply', operand, path), multiplyNumbers, (number) =>
    multiplyNumbers(number, 0),
  );

function numberOperand(verb: string, operand: unknown, path: string): Numeric {
  if (!isNumeric(operand)) {
    throw new MongoError(14, `Cannot ${verb} with non-numeric argument: {${path}: ${typeNameOf(operand)}}`);
  }
  return operand;
}

function arithmetic(
  operator: string,
  operand: Numeric,
  combine: (a: Numeric, b: Numeric) => Numeric | undefined,
  create: (operand: Numeric) => Numeric | undefined,
): Modifier {
  return {
    create: () => create(operand),
    change: (value, { path }) => {
      if (!isNumeric(value)) {
        throw new MongoError(
          14,
          `Cannot apply ${operator} to a value of non-numeric type: the field '${path}' is of type ${typeNameOf(value)}`,
        );
      }
      const result = combine(value, operand);
      if (result === undefined) {
        throw new MongoError(
          2,
          `Failed to apply ${operator} to the field '${path}': the result does not fit int64`,
        );
      }
      return result;
    },
  };
}

export const min: ModifierParser = (operand) => createBoundModifier(operand, (order) => order < 0);
export const max: ModifierParser = (operand) => createBoundModifier(operand, (order) => order > 0);

/** Compiles `$min` or `$max`. An equal value is kept, even if its type differs. */
function createBoundModifier(operand: unknown, replaces: (order: number) => boolean): Modifier {
  return {
    create: () => operand,
    change: (value) => (replaces(compareValues(operand, value)) ? operand : value),
  };
}

export const currentDate: ModifierParser = (operand) => {
  const type = isDoc(operand) ? currentDateType(operand['$type'], keysOf(operand)) : 'date';
  if (!isDoc(operand) && typeof operand !== 'boolean') {
    throw new MongoError(
      2,
      `${typeNameOf(operand)} is not valid type for $currentDate. Please use a boolean ('true') or a $type expression`,
    );
  }
  const create = ({ now, timestamp }: ModifierContext): Date | Timestamp =>
    type === 'date' ? now : timestamp;
  return { create, change: (_value, context) => create(context) };
};

function currentDateType(type: unknown, keys: readonly string[]): 'date' | 'timestamp' {
  const unknownKey = keys.find((key) => key !== '$type');
  if (unknownKey !== undefined) {
    throw new MongoError(2, `Unrecognized $currentDate option: ${unknownKey}`);
  }
  if (type !== 'date' && type !== 'timestamp') {
    throw new MongoError(2, "The '$type' string field is required to be 'date' or 'timestamp'");
  }
  return type;
}
