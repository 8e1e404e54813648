import { Long } from 'bson';
import { MongoError } from '../../errors.js';
import {
  addNumbers,
  asDouble,
  multiplyNumbers,
  numberKind,
  subtractNumbers,
  toDouble,
} from '../../values/numbers.js';
import { BSON, isNumeric, typeNameOf, typeOf, type Numeric } from '../../values/types.js';
import { integerOf, isNullish, longOf } from '../coerce.js';
import { binary, combineOperands, operandsOf, type OperatorCompiler } from '../operator.js';

/** Addition, multiplication and their inverses, with MongoDB's result types. */
export const arithmeticOperators: Readonly<Record<string, OperatorCompiler>> = {
  $add: createFoldOperator({ name: '$add', neutral: 0, apply: addPair, kinds: 'numeric or date' }),
  $multiply: createFoldOperator({ name: '$multiply', neutral: 1, apply: multiplyPair, kinds: 'numeric' }),
  $subtract: binary(subtract),
  $divide: binary(divide),
};

interface Fold {
  readonly name: string;
  readonly neutral: number;
  readonly apply: (left: unknown, right: unknown) => unknown;
  readonly kinds: 'numeric' | 'numeric or date';
}

/**
 * Compiles `$add` or `$multiply`. The operands are combined from left to right. If one of them is
 * null, the result is null, and the types of the operands after it are not checked.
 */
function createFoldOperator({ name, neutral, apply, kinds }: Fold): OperatorCompiler {
  return (argument, call) => {
    const operands = operandsOf(argument, call, { min: 0, max: Infinity });
    return combineOperands(operands, (root) => {
      let result: unknown = neutral;
      let onlyInts = true;
      for (const operand of operands) {
        const value = operand.evaluate(root);
        if (isNullish(value)) {
          return null;
        }
        if (!isNumeric(value) && (kinds === 'numeric' || !(value instanceof Date))) {
          throw new MongoError(14, `${name} only supports ${kinds} types, not ${typeNameOf(value)}`);
        }
        onlyInts &&= typeOf(value) === BSON.int;
        result = apply(result, value);
      }
      // The running sum may exceed the int32 range and return to it. The result is then an int32
      // again.
      return onlyInts && result instanceof Long ? (integerOf(result) ?? result) : result;
    });
  };
}

function addPair(left: unknown, right: unknown): unknown {
  if (left instanceof Date) {
    return addToDate(left, right);
  }
  if (right instanceof Date) {
    return addToDate(right, left);
  }
  return add(left as Numeric, right as Numeric);
}

/** Adds two numbers. An integer sum outside the int64 range becomes a double. */
function add(left: Numeric, right: Numeric): Numeric {
  return addNumbers(left, right) ?? asDouble(toDouble(left) + toDouble(right));
}

function addToDate(date: Date, amount: unknown): Date {
  if (amount instanceof Date) {
    throw new MongoError(16612, 'only one date allowed in an $add expression');
  }
  return dateOf(date.getTime() + wholeMillis(amount as Numeric));
}

/**
 * Returns a number of milliseconds.
 * @throws MongoError 238 if it is not an integer.
 */
function wholeMillis(amount: Numeric): number {
  const millis = longOf(amount);
  if (millis === undefined) {
    throw new MongoError(238, 'a date and a fraction of milliseconds is not supported by embedded-mongo');
  }
  return Number(millis);
}

/**
 * Creates a date.
 * @throws MongoError 15 if the time is outside the range of a JS date.
 */
export function dateOf(millis: number): Date {
  const date = new Date(millis);
  if (Number.isNaN(date.getTime())) {
    throw new MongoError(15, 'date overflow');
  }
  return date;
}

function multiplyPair(left: unknown, right: unknown): unknown {
  return multiply(left as Numeric, right as Numeric);
}

/** Multiplies two numbers. An integer product outside the int64 range becomes a double. */
function multiply(left: Numeric, right: Numeric): Numeric {
  return multiplyNumbers(left, right) ?? asDouble(toDouble(left) * toDouble(right));
}

function subtract(left: unknown, right: unknown): unknown {
  if (isNumeric(left) && isNumeric(right)) {
    return subtractNumbers(left, right) ?? asDouble(toDouble(left) - toDouble(right));
  }
  if (isNullish(left) || isNullish(right)) {
    return null;
  }
  if (!(left instanceof Date)) {
    throw new MongoError(14, `can't $subtract ${typeNameOf(right)} from ${typeNameOf(left)}`);
  }
  if (right instanceof Date) {
    return Long.fromNumber(left.getTime() - right.getTime());
  }
  if (!isNumeric(right)) {
    throw new MongoError(14, `can't $subtract ${typeNameOf(right)} from Date`);
  }
  return dateOf(left.getTime() - wholeMillis(right));
}

function divide(left: unknown, right: unknown): unknown {
  if (isNumeric(left) && isNumeric(right)) {
    return divideNumbers(left, right);
  }
  if (isNullish(left) || isNullish(right)) {
    return null;
  }
  const types = `${typeNameOf(left)} and ${typeNameOf(right)}`;
  throw new MongoError(14, `$divide only supports numeric types, not ${types}`);
}

/**
 * Returns the quotient, which is always a double.
 * @throws MongoError 2 if the divisor is zero, 238 if one of the numbers is a decimal.
 */
function divideNumbers(left: Numeric, right: Numeric): Numeric {
  if (numberKind(left) === 'decimal' || numberKind(right) === 'decimal') {
    throw new MongoError(238, '$divide of decimals is not supported by embedded-mongo');
  }
  const divisor = toDouble(right);
  if (divisor === 0) {
    throw new MongoError(2, "can't $divide by zero");
  }
  return asDouble(toDouble(left) / divisor);
}
