import type { Timestamp } from 'bson';
import { MongoError } from '../errors.js';
import { compareValues } from '../values/compare.js';
import { keysOf } from '../values/fields.js';
import { addNumbers, asInteger, asLong, multiplyNumbers, numberKind, toBigInt } from '../values/numbers.js';
import { isDoc, isNumeric, typeNameOf } from '../values/types.js';
import type { Numeric } from '../values/types.js';
import { REMOVE } from './modifier.js';
import type { Modifier, ModifierContext, ModifierParser } from './modifier.js';

export const set: ModifierParser = (operand) => ({ change: () => operand, create: () => operand });

export const setOnInsert: ModifierParser = (operand) => ({
  change: () => operand,
  create: () => operand,
  insertOnly: true,
});

export const unset: ModifierParser = () => ({ change: () => REMOVE, toleratesBlockedPath: true });

export const inc: ModifierParser = (operand, path) =>
  arithmetic('$inc', numberOperand('increment', operand, path), addNumbers, (number) => number);

/** A missing field counts as an int32 0. */
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

export const min: ModifierParser = (operand) => bounded(operand, (order) => order < 0);
export const max: ModifierParser = (operand) => bounded(operand, (order) => order > 0);

/** An equal value is kept, whatever its type. */
function bounded(operand: unknown, replaces: (order: number) => boolean): Modifier {
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

type BitOperation = (a: bigint, b: bigint) => bigint;
const BIT_OPERATIONS: ReadonlyMap<string, BitOperation> = new Map<string, BitOperation>([
  ['and', (a, b) => a & b],
  ['or', (a, b) => a | b],
  ['xor', (a, b) => a ^ b],
]);

export const bit: ModifierParser = (operand, path) => {
  if (!isDoc(operand)) {
    throw new MongoError(2, `The $bit modifier is not compatible with a ${typeNameOf(operand)}`);
  }
  const keys = keysOf(operand);
  if (keys.length === 0) {
    throw new MongoError(2, 'You must pass in at least one bitwise operation');
  }
  const steps = keys.map((name) => {
    const operation = BIT_OPERATIONS.get(name);
    const bits = operand[name];
    if (operation === undefined) {
      throw new MongoError(2, `The $bit modifier only supports 'and', 'or', and 'xor', not '${name}'`);
    }
    return { operation, bits: integerOperand(bits, 'The $bit modifier field must be an Integer(32/64 bit)') };
  });
  const apply = (value: unknown): unknown => {
    const start = integerOperand(
      value,
      `Cannot apply $bit to a value of non-integral type: the field '${path}'`,
    );
    return steps.reduce(applyBits, start);
  };
  return { create: () => apply(0), change: apply };
};

function integerOperand(value: unknown, message: string): Numeric {
  if (!isNumeric(value) || !['int', 'long'].includes(numberKind(value))) {
    throw new MongoError(2, `${message}, found ${typeNameOf(value)}`);
  }
  return value;
}

function applyBits(value: Numeric, step: { operation: BitOperation; bits: Numeric }): Numeric {
  const result = step.operation(toBigInt(value) ?? 0n, toBigInt(step.bits) ?? 0n);
  const isInt = numberKind(value) === 'int' && numberKind(step.bits) === 'int';
  return (isInt ? asInteger(result) : asLong(result)) ?? value;
}
