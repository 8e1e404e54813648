import { MongoError } from '../../errors.js';
import { localDate, UTC, type Zone } from './zone.js';

/** Formats an instant in a time zone. */
export type DateFormatter = (utcMillis: number, zone: Zone) => string;

type Part = (local: Date, offsetMillis: number) => string;

const padded = (value: number, digits: number): string => String(value).padStart(digits, '0');

const specifiers: Readonly<Record<string, Part>> = {
  '%': () => '%',
  d: (local) => padded(local.getUTCDate(), 2),
  H: (local) => padded(local.getUTCHours(), 2),
  L: (local) => padded(local.getUTCMilliseconds(), 3),
  m: (local) => padded(local.getUTCMonth() + 1, 2),
  M: (local) => padded(local.getUTCMinutes(), 2),
  S: (local) => padded(local.getUTCSeconds(), 2),
  Y: (local) => padded(checkYear(local.getUTCFullYear()), 4),
  z: (_local, offset) => {
    const minutes = Math.trunc(Math.abs(offset) / 60_000);
    return `${offset < 0 ? '-' : '+'}${padded(Math.floor(minutes / 60), 2)}${padded(minutes % 60, 2)}`;
  },
  Z: (_local, offset) => `${offset < 0 ? '-' : '+'}${Math.trunc(Math.abs(offset) / 60_000)}`,
};

function checkYear(year: number): number {
  if (year < 0 || year > 9999) {
    throw new MongoError(18537, `$dateToString is only defined on year 0-9999, tried to use year ${year}`);
  }
  return year;
}

const formatters = new Map<string, DateFormatter>();
const formattersMax = 1000;

/**
 * Compiles a format string of `$dateToString`.
 * @throws MongoError 18535 for a `%` at the end, 18536 for an unknown letter after `%`, 238 for a
 * letter that this server does not support.
 */
export function compileFormat(format: string): DateFormatter {
  const known = formatters.get(format);
  if (known !== undefined) {
    return known;
  }
  const parts = formatParts(format);
  const formatter: DateFormatter = (utcMillis, zone) => {
    const offset = zone.offsetAt(utcMillis);
    const local = new Date(utcMillis + offset);
    let text = '';
    for (const part of parts) {
      text += typeof part === 'string' ? part : part(local, offset);
    }
    return text;
  };
  if (formatters.size < formattersMax) {
    formatters.set(format, formatter);
  }
  return formatter;
}

function formatParts(format: string): (string | Part)[] {
  const parts: (string | Part)[] = [];
  for (const token of format.match(/%[^]?|[^%]+/gu) ?? []) {
    parts.push(token.startsWith('%') ? specifierOf(token.slice(1)) : token);
  }
  return parts;
}

function specifierOf(letter: string): Part {
  if (letter === '') {
    throw new MongoError(18535, "Unmatched '%' at end of format string");
  }
  if ('bBGjuUVw'.includes(letter)) {
    throw new MongoError(238, `%${letter} in a date format is not supported by embedded-mongo`);
  }
  const part = Object.hasOwn(specifiers, letter) ? specifiers[letter] : undefined;
  if (part === undefined) {
    throw new MongoError(18536, `Invalid format character '%${letter}' in format string`);
  }
  return part;
}

/**
 * Formats a date as ISO 8601 with milliseconds, the default of `$dateToString`. The suffix `Z` is
 * added only in UTC.
 */
export function formatDefault(utcMillis: number, zone: Zone): string {
  const local = localDate(utcMillis, zone);
  // toISOString writes four-digit years, as MongoDB does, only for the years 0 to 9999.
  checkYear(local.getUTCFullYear());
  const text = local.toISOString();
  return zone.isUtc ? text : text.slice(0, -1);
}

/** Formats a date in UTC, for example `2024-01-01T00:00:00.000Z`. */
export function formatIsoDate(date: Date): string {
  return formatDefault(date.getTime(), UTC);
}
