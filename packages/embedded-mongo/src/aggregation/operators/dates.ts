import { MongoError } from '../../errors.js';
import { keysOf } from '../../values/fields.js';
import { isDoc, typeNameOf } from '../../values/types.js';
import { coerceToMillis, isDateLike, isNullish } from '../coerce.js';
import { formatOperand, unitOperand, weekStartOperand, zoneOperand } from '../date-operands.js';
import { dayOfYear, localDate } from '../dates/calendar.js';
import { compileFormat, formatDefault, type DateFormatter } from '../dates/format.js';
import { truncateDate } from '../dates/truncate.js';
import {
  combine,
  constant,
  namedOperands,
  type Expression,
  type OperatorCall,
  type OperatorCompiler,
} from '../operator.js';
import { dateOf } from './arithmetic.js';

/** Dates as text, cut to a unit, and their parts; null if an operand is null or missing. */
export const dateOperators: Readonly<Record<string, OperatorCompiler>> = {
  $dateToString: compileDateToString,
  $dateTrunc: compileDateTrunc,
  $year: part((local) => local.getUTCFullYear()),
  $month: part((local) => local.getUTCMonth() + 1),
  $dayOfMonth: part((local) => local.getUTCDate()),
  $dayOfWeek: part((local) => local.getUTCDay() + 1),
  $dayOfYear: part(dayOfYear),
  $hour: part((local) => local.getUTCHours()),
  $minute: part((local) => local.getUTCMinutes()),
  $second: part((local) => local.getUTCSeconds()),
  $millisecond: part((local) => local.getUTCMilliseconds()),
};

function compileDateToString(argument: unknown, call: OperatorCall): Expression {
  const operands = namedOperands(argument, call, {
    required: { date: 18628 },
    optional: ['format', 'timezone', 'onNull'],
    notObject: 18629,
    unknownKey: 18534,
  });
  const { date, onNull = constant(null), format, timezone } = operands;
  const formatAt = formatOperand<DateFormatter>(format, { absent: formatDefault, read: compileFormat });
  const zoneAt = zoneOperand(timezone);
  return combine(Object.values(operands), (root) => {
    const value = date.evaluate(root);
    const formatter = formatAt(root);
    const zone = zoneAt(root);
    if (isNullish(value)) {
      return onNull.evaluate(root);
    }
    return zone === null || formatter === null ? null : formatter(coerceToMillis(value), zone);
  });
}

function compileDateTrunc(argument: unknown, call: OperatorCall): Expression {
  const operands = namedOperands(argument, call, {
    required: { date: 5439009, unit: 5439010 },
    optional: ['binSize', 'timezone', 'startOfWeek'],
    notObject: 5439007,
    unknownKey: 5439008,
  });
  const { date, unit, binSize, timezone, startOfWeek } = operands;
  if (binSize !== undefined) {
    throw new MongoError(238, "$dateTrunc with 'binSize' is not supported by embedded-mongo");
  }
  const unitAt = unitOperand(unit, call.name);
  const zoneAt = zoneOperand(timezone);
  const weekStartAt = weekStartOperand(startOfWeek, call.name);
  return combine(Object.values(operands), (root) => {
    const instant = date.evaluate(root);
    const by = unitAt(root);
    const weekStart = by === 'week' ? weekStartAt(root) : 7;
    const zone = zoneAt(root);
    if (isNullish(instant) || by === null || weekStart === null || zone === null) {
      return null;
    }
    if (!isDateLike(instant)) {
      throw new MongoError(
        5166307,
        `$dateTrunc requires 'date' to be a date, but got ${typeNameOf(instant)}`,
      );
    }
    return dateOf(truncateDate(coerceToMillis(instant), { unit: by, zone, weekStart }));
  });
}

/** `$year`, `$hour`, ...: of a date, of `[date]` or of `{date, timezone}`. */
function part(read: (local: Date) => number): OperatorCompiler {
  return (argument, call) => {
    const { date, timezone } = partOperands(argument, call);
    const zoneAt = zoneOperand(timezone);
    return combine(timezone === undefined ? [date] : [date, timezone], (root) => {
      const value = date.evaluate(root);
      const zone = isNullish(value) ? null : zoneAt(root);
      return zone === null ? null : read(localDate(coerceToMillis(value), zone));
    });
  };
}
interface PartOperands {
  readonly date: Expression;
  readonly timezone?: Expression;
}

function partOperands(argument: unknown, call: OperatorCall): PartOperands {
  if (Array.isArray(argument)) {
    if (argument.length !== 1) {
      throw new MongoError(
        40536,
        `${call.name} accepts exactly one argument if given an array, but was given ${argument.length}`,
      );
    }
    return { date: call.compile(argument[0]) };
  }
  if (!isDoc(argument) || keysOf(argument)[0]?.startsWith('$') === true) {
    return { date: call.compile(argument) };
  }
  const unknown = keysOf(argument).find((key) => key !== 'date' && key !== 'timezone');
  if (unknown !== undefined) {
    throw new MongoError(40535, `unrecognized option to ${call.name}: "${unknown}"`);
  }
  if (!('date' in argument)) {
    throw new MongoError(40539, `missing 'date' argument to ${call.name}`);
  }
  const date = call.compile(argument.date);
  return 'timezone' in argument ? { date, timezone: call.compile(argument.timezone) } : { date };
}
