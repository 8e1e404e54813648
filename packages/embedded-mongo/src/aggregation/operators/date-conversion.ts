import { MongoError } from '../../errors.js';
import { typeNameOf } from '../../values/types.js';
import type { Doc } from '../../values/types.js';
import { coerceToMillis, isNullish, longOf } from '../coerce.js';
import { zoneOperand } from '../date-operands.js';
import { isoDayOfWeek, isoWeek, localDate, utcMillis } from '../dates/calendar.js';
import { compileFormat, formatDefault } from '../dates/format.js';
import { instantOf, parseDate } from '../dates/parse.js';
import { compileDateParser, isoDate } from '../dates/parse-format.js';
import { localToUtc } from '../dates/zone.js';
import { combine, constant, constantValue, namedOperands } from '../operator.js';
import type { Expression, OperatorCall, OperatorCompiler } from '../operator.js';
import { dateOf } from './arithmetic.js';

/** Conversions between dates, their parts and text. */
export const dateConversionOperators: Readonly<Record<string, OperatorCompiler>> = {
  $dateToString: compileDateToString,
  $dateFromString: compileDateFromString,
  $dateToParts: compileDateToParts,
  $dateFromParts: compileDateFromParts,
};

/** A `format` operand: compiled once if it is constant, null if null, undefined if there is none. */
function formatOperand<T>(
  format: Expression | undefined,
  call: OperatorCall,
  { code, compile }: { readonly code: number; readonly compile: (format: string) => T },
): (root: Doc) => T | null | undefined {
  if (format === undefined) {
    return () => undefined;
  }
  const read = (value: unknown): T | null => {
    if (isNullish(value)) {
      return null;
    }
    if (typeof value !== 'string') {
      throw new MongoError(
        code,
        `${call.name} requires that 'format' be a string, found: ${typeNameOf(value)}`,
      );
    }
    return compile(value);
  };
  if (format.constant) {
    const compiled = read(constantValue(format));
    return () => compiled;
  }
  return (root) => read(format.evaluate(root));
}

function compileDateToString(argument: unknown, call: OperatorCall): Expression {
  const operands = namedOperands(argument, call, {
    keys: ['date', 'format', 'timezone', 'onNull'],
    required: { date: 18628 },
    notObject: 18629,
    unknownKey: 18534,
  });
  const { date = constant(null), onNull = constant(null), format, timezone } = operands;
  const formatAt = formatOperand(format, call, { code: 18533, compile: compileFormat });
  const zoneAt = zoneOperand(timezone);
  return combine(Object.values(operands), (root) => {
    const value = date.evaluate(root);
    const formatter = formatAt(root);
    const zone = zoneAt(root);
    if (isNullish(value)) {
      return onNull.evaluate(root);
    }
    if (zone === null || formatter === null) {
      return null;
    }
    return (formatter ?? formatDefault)(coerceToMillis(value), zone);
  });
}

function compileDateFromString(argument: unknown, call: OperatorCall): Expression {
  const operands = namedOperands(argument, call, {
    keys: ['dateString', 'format', 'timezone', 'onNull', 'onError'],
    required: { dateString: 40542 },
    notObject: 40540,
    unknownKey: 40541,
  });
  const { dateString = constant(null), onNull = constant(null), onError, format, timezone } = operands;
  const formatAt = formatOperand(format, call, { code: 40684, compile: compileDateParser });
  const zoneAt = zoneOperand(timezone);
  return combine(Object.values(operands), (root) => {
    const text = dateString.evaluate(root);
    const parser = formatAt(root);
    const zone = zoneAt(root);
    if (isNullish(text)) {
      return onNull.evaluate(root);
    }
    try {
      if (typeof text !== 'string') {
        throw new MongoError(
          241,
          `$dateFromString requires that 'dateString' be a string, found: ${typeNameOf(text)}`,
        );
      }
      if (zone === null || parser === null) {
        return null;
      }
      return dateOf(instantOf((parser ?? parseDate)(text), zone));
    } catch (error) {
      if (onError !== undefined && error instanceof MongoError && error.code === 241) {
        return onError.evaluate(root);
      }
      throw error;
    }
  });
}

function compileDateToParts(argument: unknown, call: OperatorCall): Expression {
  const operands = namedOperands(argument, call, {
    keys: ['date', 'timezone', 'iso8601'],
    required: { date: 40522 },
    notObject: 40524,
    unknownKey: 40520,
  });
  const { date = constant(null), iso8601 = constant(false), timezone } = operands;
  const zoneAt = zoneOperand(timezone);
  return combine(Object.values(operands), (root) => {
    const value = date.evaluate(root);
    const zone = zoneAt(root);
    const iso = iso8601.evaluate(root);
    if (zone === null || isNullish(iso)) {
      return null;
    }
    if (typeof iso !== 'boolean') {
      throw new MongoError(40521, `iso8601 must evaluate to a bool, found ${typeNameOf(iso)}`);
    }
    return isNullish(value) ? null : partsOf(localDate(coerceToMillis(value), zone), iso);
  });
}

function partsOf(local: Date, iso: boolean): Doc {
  const time = {
    hour: local.getUTCHours(),
    minute: local.getUTCMinutes(),
    second: local.getUTCSeconds(),
    millisecond: local.getUTCMilliseconds(),
  };
  if (iso) {
    const { year, week } = isoWeek(local);
    return { isoWeekYear: year, isoWeek: week, isoDayOfWeek: isoDayOfWeek(local), ...time };
  }
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth() + 1, local.getUTCDate()];
  return { year, month, day, ...time };
}

const naturalKeys = ['year', 'month', 'day'] as const;
const isoKeys = ['isoWeekYear', 'isoWeek', 'isoDayOfWeek'] as const;
const timeKeys = ['hour', 'minute', 'second', 'millisecond'] as const;
const partKeys = [...naturalKeys, ...isoKeys, ...timeKeys] as const;
type PartKey = (typeof partKeys)[number];

function compileDateFromParts(argument: unknown, call: OperatorCall): Expression {
  const operands = namedOperands(argument, call, {
    keys: [...partKeys, 'timezone'] as const,
    required: {},
    notObject: 40519,
    unknownKey: 40518,
  });
  const natural = naturalKeys.some((key) => operands[key] !== undefined);
  const iso = isoKeys.some((key) => operands[key] !== undefined);
  if (operands.year === undefined && operands.isoWeekYear === undefined) {
    throw new MongoError(40516, "$dateFromParts requires either 'year' or 'isoWeekYear' to be present");
  }
  if (natural && iso) {
    const code = operands.year === undefined ? 40525 : 40489;
    throw new MongoError(code, '$dateFromParts does not allow mixing natural dates with ISO dates');
  }
  const zoneAt = zoneOperand(operands.timezone);
  return combine(Object.values(operands), (root) => {
    const parts = readParts(operands, root);
    const zone = zoneAt(root);
    if (parts === null || zone === null) {
      return null;
    }
    const { hour = 0, minute = 0, second = 0, millisecond = 0 } = parts;
    const time = ((hour * 60 + minute) * 60 + second) * 1000 + millisecond;
    const day = iso ? isoDayOf(parts) : naturalDayOf(parts);
    return dateOf(localToUtc(day + time, zone));
  });
}

function readParts(
  operands: Partial<Record<PartKey, Expression>>,
  root: Doc,
): Partial<Record<PartKey, number>> | null {
  const parts: Partial<Record<PartKey, number>> = {};
  for (const key of partKeys) {
    const value = operands[key]?.evaluate(root);
    if (operands[key] !== undefined && isNullish(value)) {
      return null;
    }
    if (operands[key] !== undefined) {
      parts[key] = partValue(key, value);
    }
  }
  return parts;
}

function partValue(key: PartKey, value: unknown): number {
  const whole = longOf(value);
  if (whole === undefined) {
    throw new MongoError(40515, `'${key}' must evaluate to an integer, found ${typeNameOf(value)}`);
  }
  const unbounded = key === 'year' || key === 'isoWeekYear' || key === 'second' || key === 'millisecond';
  if (!unbounded && (whole < -32768n || whole > 32767n)) {
    throw new MongoError(
      31034,
      `'${key}' must evaluate to a value in the range [-32768, 32767]; value ${whole} is not in range`,
    );
  }
  return Number(whole);
}

function naturalDayOf({ year = 1970, month = 1, day = 1 }: Partial<Record<PartKey, number>>): number {
  if (year < 1 || year > 9999) {
    throw new MongoError(40523, `'year' must evaluate to an integer in the range 1 to 9999, found ${year}`);
  }
  return utcMillis(year, month, day);
}

function isoDayOf(parts: Partial<Record<PartKey, number>>): number {
  const { isoWeekYear = 1970, isoWeek: week = 1, isoDayOfWeek: day = 1 } = parts;
  if (isoWeekYear < 1 || isoWeekYear > 9999) {
    throw new MongoError(
      31095,
      `'isoWeekYear' must evaluate to an integer in the range 1 to 9999, found ${isoWeekYear}`,
    );
  }
  return isoDate(isoWeekYear, week, day);
}
