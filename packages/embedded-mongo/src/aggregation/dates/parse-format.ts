import { MongoError } from '../../errors.js';
import { dayMillis, isoDayOfWeek, utcMillis } from './calendar.js';
import { conversionFailure, monthOf, offsetOf } from './parse.js';
import type { ParsedDate } from './parse.js';

type Field =
  | 'year'
  | 'month'
  | 'day'
  | 'hour'
  | 'minute'
  | 'second'
  | 'millis'
  | 'dayOfYear'
  | 'isoYear'
  | 'isoWeek'
  | 'isoDay';
type Fields = Partial<Record<Field | 'offset', number>>;

interface Reader {
  readonly pattern: string;
  readonly store: (fields: Fields, part: string, text: string) => void;
}

const number = (field: Field, pattern: string): Reader => ({
  pattern,
  store: (fields, part) => (fields[field] = Number(part)),
});
const month: Reader['store'] = (fields, part, text) => (fields.month = monthOf(part, text));

const readers: Readonly<Record<string, Reader>> = {
  b: { pattern: '[A-Za-z]{3}', store: month },
  B: { pattern: '[A-Za-z]{3,9}', store: month },
  d: number('day', String.raw`\d{1,2}`),
  G: number('isoYear', String.raw`\d{4}`),
  H: number('hour', String.raw`\d{1,2}`),
  j: number('dayOfYear', String.raw`\d{1,3}`),
  L: { pattern: String.raw`\d{1,3}`, store: (fields, part) => (fields.millis = Number(part.padEnd(3, '0'))) },
  m: number('month', String.raw`\d{1,2}`),
  M: number('minute', String.raw`\d{1,2}`),
  S: number('second', String.raw`\d{1,2}`),
  u: number('isoDay', '[1-7]'),
  V: number('isoWeek', String.raw`\d{1,2}`),
  Y: number('year', String.raw`\d{4}`),
  z: {
    pattern: String.raw`(?:[Zz]|UTC|GMT)?(?:[+-]\d{1,2}(?::?\d\d)?)?`,
    store: (fields, part) => (fields.offset = offsetOf(part)),
  },
  Z: { pattern: String.raw`[+-]?\d{1,4}`, store: (fields, part) => (fields.offset = Number(part) * 60_000) },
};

/** Compiles a format of `$dateFromString`. Errors 18535 and 18536; the parser's error is 241. */
export function compileDateParser(format: string): (text: string) => ParsedDate {
  const used: Reader[] = [];
  let pattern = '';
  for (const token of format.match(/%[^]?|[^%]+/gu) ?? []) {
    const letter = token.startsWith('%') ? token.slice(1) : undefined;
    if (letter === undefined || letter === '%') {
      pattern += (letter ?? token).replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
    } else {
      const reader = readerOf(letter);
      used.push(reader);
      pattern += `(${reader.pattern})`;
    }
  }
  const whole = new RegExp(`^${pattern}$`, 'u');
  return (text) => {
    const parts = whole.exec(text);
    if (parts === null) {
      throw conversionFailure(text, 'it does not match the format');
    }
    const fields: Fields = {};
    used.forEach((reader, index) => reader.store(fields, parts[index + 1] ?? '', text));
    return { localMillis: localMillisOf(fields, text), offset: fields.offset };
  };
}

function readerOf(letter: string): Reader {
  if (letter === '') {
    throw new MongoError(18535, "Unmatched '%' at end of format string");
  }
  const reader = Object.hasOwn(readers, letter) ? readers[letter] : undefined;
  if (reader === undefined) {
    throw new MongoError(18536, `Invalid format character '%${letter}' in format string`);
  }
  return reader;
}

function localMillisOf(fields: Fields, text: string): number {
  const { hour = 0, minute = 0, second = 0, millis = 0 } = fields;
  if (hour > 24 || minute > 59 || second > 59) {
    throw conversionFailure(text, 'the parsed time was invalid');
  }
  return dayOf(fields, text) + ((hour * 60 + minute) * 60 + second) * 1000 + millis;
}

function dayOf(fields: Fields, text: string): number {
  const { year, month: of, day, dayOfYear, isoYear, isoWeek, isoDay } = fields;
  if (isoYear !== undefined && isoWeek !== undefined && isoDay !== undefined) {
    return isoDate(isoYear, isoWeek, isoDay);
  }
  if (year !== undefined && dayOfYear !== undefined) {
    return utcMillis(year, 1, dayOfYear);
  }
  if (year === undefined || of === undefined || day === undefined) {
    throw conversionFailure(text, 'an incomplete date/time string has been found, with elements missing');
  }
  const millis = utcMillis(year, of, day);
  if (of < 1 || of > 12 || day < 1 || new Date(millis).getUTCDate() !== day) {
    throw conversionFailure(text, 'the parsed date was invalid');
  }
  return millis;
}

/** The day of an ISO 8601 week date, which may carry over (week 60, day 0). */
export function isoDate(isoYear: number, isoWeek: number, isoDay: number): number {
  // The week of January 4 is the first one.
  const fourth = utcMillis(isoYear, 1, 4);
  const firstMonday = fourth - (isoDayOfWeek(new Date(fourth)) - 1) * dayMillis;
  return firstMonday + ((isoWeek - 1) * 7 + isoDay - 1) * dayMillis;
}
