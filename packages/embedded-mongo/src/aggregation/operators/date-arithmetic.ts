import { Long, Timestamp } from 'bson';
import { MongoError } from '../../errors.js';
import { typeNameOf } from '../../values/types.js';
import { coerceToMillis, isDateLike, isNullish, longOf } from '../coerce.js';
import { unitOperand, weekStartOperand, zoneOperand } from '../date-operands.js';
import { addToDate, differenceOf, truncateDate } from '../dates/arithmetic.js';
import { combine, constant, namedOperands, unary } from '../operator.js';
import type { Expression, OperatorCall, OperatorCompiler } from '../operator.js';
import { dateOf } from './arithmetic.js';

/** Calculations with dates; null if an operand is null or missing. */
export const dateArithmeticOperators: Readonly<Record<string, OperatorCompiler>> = {
  $dateAdd: dateAddition(1),
  $dateSubtract: dateAddition(-1),
  $dateDiff: compileDateDiff,
  $dateTrunc: compileDateTrunc,
  $tsSecond: timestampPart(5687301, (timestamp) => timestamp.t),
  $tsIncrement: timestampPart(5687302, (timestamp) => timestamp.i),
};

const presentOf = (operands: Readonly<Record<string, Expression>>): Expression[] => Object.values(operands);

function dateAddition(sign: 1 | -1): OperatorCompiler {
  return (argument, call) => {
    const operands = namedOperands(argument, call, {
      keys: ['startDate', 'unit', 'amount', 'timezone'],
      required: { startDate: 5166402, unit: 5166402, amount: 5166402 },
      notObject: 5166400,
      unknownKey: 5166401,
    });
    const { startDate = constant(null), unit = constant(null), amount = constant(null), timezone } = operands;
    const [unitAt, zoneAt] = [unitOperand(unit, call.name), zoneOperand(timezone)];
    return combine(presentOf(operands), (root) => {
      const start = startDate.evaluate(root);
      const by = unitAt(root);
      const count = amount.evaluate(root);
      const zone = zoneAt(root);
      if (isNullish(start) || by === null || isNullish(count) || zone === null) {
        return null;
      }
      if (!isDateLike(start)) {
        throw new MongoError(5166403, `${call.name} requires startDate to be convertible to a date`);
      }
      return dateOf(addToDate(coerceToMillis(start), by, sign * wholeAmount(count, call), zone));
    });
  };
}

function wholeAmount(value: unknown, call: OperatorCall): number {
  const amount = longOf(value);
  if (amount === undefined) {
    throw new MongoError(5166405, `${call.name} expects integer amount of time units`);
  }
  return Number(amount);
}

function dateArgument(value: unknown, operator: string, parameter: string): number {
  if (!isDateLike(value)) {
    throw new MongoError(
      5166307,
      `${operator} requires '${parameter}' to be a date, but got ${typeNameOf(value)}`,
    );
  }
  return coerceToMillis(value);
}

function compileDateDiff(argument: unknown, call: OperatorCall): Expression {
  const operands = namedOperands(argument, call, {
    keys: ['startDate', 'endDate', 'unit', 'timezone', 'startOfWeek'],
    required: { startDate: 5166303, endDate: 5166304, unit: 5166305 },
    notObject: 5166301,
    unknownKey: 5166302,
  });
  const { startDate = constant(null), endDate = constant(null), unit = constant(null) } = operands;
  const unitAt = unitOperand(unit, call.name);
  const zoneAt = zoneOperand(operands.timezone);
  const weekStartAt = weekStartOperand(operands.startOfWeek, call.name);
  return combine(presentOf(operands), (root) => {
    const start = startDate.evaluate(root);
    const end = endDate.evaluate(root);
    const by = unitAt(root);
    const weekStart = by === 'week' ? weekStartAt(root) : 7;
    const zone = zoneAt(root);
    if (isNullish(start) || isNullish(end) || by === null || weekStart === null || zone === null) {
      return null;
    }
    const range = {
      start: dateArgument(start, '$dateDiff', 'startDate'),
      end: dateArgument(end, '$dateDiff', 'endDate'),
    };
    return Long.fromNumber(differenceOf(range, { unit: by, zone, weekStart }));
  });
}

function compileDateTrunc(argument: unknown, call: OperatorCall): Expression {
  const operands = namedOperands(argument, call, {
    keys: ['date', 'unit', 'binSize', 'timezone', 'startOfWeek'],
    required: { date: 5439009, unit: 5439010 },
    notObject: 5439007,
    unknownKey: 5439008,
  });
  const { date = constant(null), unit = constant(null), binSize = constant(1) } = operands;
  const unitAt = unitOperand(unit, call.name);
  const zoneAt = zoneOperand(operands.timezone);
  const weekStartAt = weekStartOperand(operands.startOfWeek, call.name);
  return combine(presentOf(operands), (root) => {
    const instant = date.evaluate(root);
    const size = binSize.evaluate(root);
    const by = unitAt(root);
    const weekStart = by === 'week' ? weekStartAt(root) : 7;
    const zone = zoneAt(root);
    if (isNullish(instant) || isNullish(size) || by === null || weekStart === null || zone === null) {
      return null;
    }
    const start = dateArgument(instant, '$dateTrunc', 'date');
    return dateOf(truncateDate(start, { unit: by, binSize: wholeBinSize(size), zone, weekStart }));
  });
}

function wholeBinSize(value: unknown): number {
  const size = longOf(value);
  if (size === undefined) {
    throw new MongoError(
      5439017,
      `$dateTrunc requires 'binSize' to be a 64-bit integer, but got a value of type ${typeNameOf(value)}`,
    );
  }
  if (size <= 0n) {
    throw new MongoError(
      5439018,
      `$dateTrunc requires 'binSize' to be greater than 0, but got value ${size}`,
    );
  }
  return Number(size);
}

function timestampPart(code: number, read: (timestamp: Timestamp) => number): OperatorCompiler {
  return unary((value, name) => {
    if (isNullish(value)) {
      return null;
    }
    if (!(value instanceof Timestamp)) {
      throw new MongoError(code, `Argument to ${name} must be a timestamp, but is ${typeNameOf(value)}`);
    }
    return Long.fromNumber(read(value));
  });
}
