import { MongoError } from '../../errors.js';
import { keysOf } from '../../values/fields.js';
import { isDoc } from '../../values/types.js';
import { coerceToMillis, isNullish } from '../coerce.js';
import { dayOfYear, isoDayOfWeek, isoWeek, localDate, weekOfYear } from '../dates/calendar.js';
import { UTC } from '../dates/zone.js';
import { zoneOperand } from '../date-operands.js';
import { combine } from '../operator.js';
import type { Expression, OperatorCall, OperatorCompiler } from '../operator.js';
import { Long } from 'bson';

/** `$year`, `$hour`, ...: of a date, of `[date]` or of `{date, timezone}`; null for null and missing. */
export const datePartOperators: Readonly<Record<string, OperatorCompiler>> = {
  $year: part((local) => local.getUTCFullYear()),
  $month: part((local) => local.getUTCMonth() + 1),
  $dayOfMonth: part((local) => local.getUTCDate()),
  $dayOfWeek: part((local) => local.getUTCDay() + 1),
  $dayOfYear: part(dayOfYear),
  $hour: part((local) => local.getUTCHours()),
  $minute: part((local) => local.getUTCMinutes()),
  $second: part((local) => local.getUTCSeconds()),
  $millisecond: part((local) => local.getUTCMilliseconds()),
  $week: part(weekOfYear),
  $isoDayOfWeek: part(isoDayOfWeek),
  $isoWeek: part((local) => isoWeek(local).week),
  $isoWeekYear: part((local) => Long.fromNumber(isoWeek(local).year)),
};

function part(read: (local: Date) => unknown): OperatorCompiler {
  return (argument, call) => {
    const { date, timezone } = partOperands(argument, call);
    const zone = zoneOperand(timezone);
    return combine(timezone === undefined ? [date] : [date, timezone], (root) => {
      const value = date.evaluate(root);
      if (isNullish(value)) {
        return null;
      }
      const millis = coerceToMillis(value);
      const at = timezone === undefined ? UTC : zone(root);
      return at === null ? null : read(localDate(millis, at));
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
