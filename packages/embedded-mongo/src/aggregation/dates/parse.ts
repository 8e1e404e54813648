import { MongoError } from '../../errors.js';
import { utcMillis } from './calendar.js';
import { monthNames } from './format.js';
import { localToUtc } from './zone.js';
import type { Zone } from './zone.js';

/** What a date string says; `offset` in ms is what it says of the zone, if anything. */
export interface ParsedDate {
  readonly localMillis: number;
  readonly offset: number | undefined;
}

/** An instant from what a string says and the zone beside it. Error 241 if both name a zone. */
export function instantOf({ localMillis, offset }: ParsedDate, zone: Zone): number {
  if (offset === undefined) {
    return localToUtc(localMillis, zone);
  }
  if (!zone.isUtc) {
    throw new MongoError(
      241,
      'you cannot pass in a date/time string with a zone together with a timezone argument',
    );
  }
  return localMillis - offset;
}

export function conversionFailure(text: string, reason = 'unknown format'): MongoError {
  return new MongoError(241, `Error parsing date string '${text}'; ${reason}`);
}

const date = String.raw`(?<year>\d{4})(?:-(?<month>\d{1,2})-(?<day>\d{1,2})|/(?<month2>\d{1,2})/(?<day2>\d{1,2})|(?<month3>\d\d)(?<day3>\d\d))`;
const american = String.raw`(?<month4>\d{1,2})/(?<day4>\d{1,2})/(?<year4>\d{4})`;
const worded = String.raw`(?:(?<name5>[A-Za-z]{3,9})\.?\s+(?<day5>\d{1,2})(?:st|nd|rd|th)?,?\s+(?<year5>\d{4})|(?<day6>\d{1,2})(?:st|nd|rd|th)?[\s-]+(?<name6>[A-Za-z]{3,9})\.?[\s,-]+(?<year6>\d{4}))`;
const weekday = String.raw`(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?`;
const time = String.raw`[Tt\s]\s*(?<hour>\d{1,2}):?(?<minute>\d\d)(?::?(?<second>\d\d)(?:[.,](?<fraction>\d{1,9}))?)?\s*(?<half>[AaPp]\.?[Mm]\.?)?`;
const zone = String.raw`\s*(?<zone>[Zz]|UTC|GMT|(?:GMT|UTC)?[+-]\d{1,2}(?::?\d\d)?)`;
const pattern = new RegExp(
  `^\\s*${weekday}(?:${date}|${american}|${worded})(?:${time})?(?:${zone})?\\s*$`,
  'i',
);

/**
 * Reads a date string without a format: ISO 8601 in its usual spellings, `2024/01/31`, `01/31/2024`,
 * `January 31, 2024` and `31 Jan 2024`, each with an optional time and zone. Error 241.
 */
export function parseDate(text: string): ParsedDate {
  const found = pattern.exec(text)?.groups;
  if (found === undefined) {
    throw conversionFailure(text);
  }
  const first = (...names: string[]): string | undefined =>
    names.map((name) => found[name]).find((part) => part !== undefined);
  const name = first('name5', 'name6');
  const month =
    name === undefined ? Number(first('month', 'month2', 'month3', 'month4')) : monthOf(name, text);
  const day = Number(first('day', 'day2', 'day3', 'day4', 'day5', 'day6'));
  const year = Number(first('year', 'year4', 'year5', 'year6'));
  if (month < 1 || month > 12 || day < 1 || day > 31) {
    throw conversionFailure(text, 'The parsed date was invalid');
  }
  const invalidDay = new Date(utcMillis(year, month, day)).getUTCDate() !== day;
  if (invalidDay) {
    throw conversionFailure(text, 'The parsed date was invalid');
  }
  return {
    localMillis: utcMillis(year, month, day, timeMillis(found, text)),
    offset: found.zone === undefined ? undefined : offsetOf(found.zone),
  };
}

/** 1 to 12, by the full name or at least its first three letters. */
export function monthOf(name: string, text: string): number {
  const lower = name.toLowerCase();
  const index = monthNames.findIndex((month) => {
    const full = month.toLowerCase();
    return full === lower || full.slice(0, 3) === lower || (lower === 'sept' && full === 'september');
  });
  if (index < 0) {
    throw conversionFailure(text, `unknown month ${name}`);
  }
  return index + 1;
}

function timeMillis(found: Readonly<Record<string, string | undefined>>, text: string): number {
  const { hour = '0', minute = '0', second = '0', fraction = '', half } = found;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (/^p/i.test(half) ? 12 : 0);
  if (hours > 24 || Number(minute) > 59 || Number(second) > 60) {
    throw conversionFailure(text, 'The parsed time was invalid');
  }
  const millis = Number(fraction.slice(0, 3).padEnd(3, '0'));
  return ((hours * 60 + Number(minute)) * 60 + Number(second)) * 1000 + millis;
}

/** `Z`, `UTC`, `+07`, `+0700`, `+07:00` as ms east of UTC. */
export function offsetOf(text: string): number {
  const match = /([+-])(\d{1,2}):?(\d\d)?$/.exec(text);
  if (match === null) {
    return 0;
  }
  const [, sign, hours, minutes = '0'] = match;
  return (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
}
