import { MongoError } from '../../errors.js';
import { keysOf } from '../../values/fields.js';
import { isDoc } from '../../values/types.js';
import { coerceToMillis, isNullish } from '../coerce.js';
import { formatOperand, zoneOperand } from '../date-operands.js';
import { localDate } from '../dates/zone.js';
import {
  combineOperands,
  constant,
  namedOperands,
  type Expression,
  type OperatorCall,
  type OperatorCompiler,
} from '../operator.js';

/**
 * Operators that format dates or return parts of them. The result is null if an operand is null or
 * missing.
 */
export const dateOperators: Readonly<Record<string, OperatorCompiler>> = {
  $dateToString: compileDateToString,
  $year: part((local) => local.getUTCFullYear()),
  $month: part((local) => local.getUTCMonth() + 1),
  $dayOfMonth: part((local) => local.getUTCDate()),
  $dayOfWeek: part((local) => local.getUTCDay() + 1),
  $hour: part((local) => local.getUTCHours()),
  $minute: part((local) => local.getUTCMinutes()),
  $second: part((local) => local.getUTCSeconds()),
};

function compileDateToString(argument: unknown, call: OperatorCall): Expression {
  const operands = namedOperands(argument, call, {
    required: { date: 18628 },
    optional: ['format', 'timezone', 'onNull'],
    notObject: 18629,
    unknownKey: 18534,
  });
  const { date, onNull = constant(null), format, timezone } = operands;
  const formatAt = formatOperand(format);
  const zoneAt = zoneOperand(timezone);
  return combineOperands(Object.values(operands), (root) => {
    const value = date.evaluate(root);
    const formatter = formatAt(root);
    const zone = zoneAt(root);
    if (isNullish(value)) {
      return onNull.evaluate(root);
    }
    return zone === null || formatter === null ? null : formatter(coerceToMillis(value), zone);
  });
}

/**
 * Compiles `$year`, `$hour` and similar operators. The argument is a date, an array with one date,
 * or `{date, timezone}`.
 */
function part(read: (local: Date) => number): OperatorCompiler {
  return (argument, call) => {
    const { date, timezone } = partOperands(argument, call);
    const zoneAt = zoneOperand(timezone);
    return combineOperands(timezone === undefined ? [date] : [date, timezone], (root) => {
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
