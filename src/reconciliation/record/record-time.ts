import { DateTime, Info } from 'luxon';
import { env } from '../../../config/env.js';
import { lookUp } from '../../shared/collections.js';
import { findName, monthNames } from '../../shared/month-names.js';

/** The order of day, month and year in a provider's record. */
export const dateOrders = ['day-first', 'month-first', 'year-first'] as const;
export type DateOrder = (typeof dateOrders)[number];

/** The reason why a time cannot be read. It completes the sentence "The time ‹text› …". */
export class UnreadableTimeError extends Error {}

/** Luxon formats of dates whose order is clear from the text, or is the usual one. */
const clearFormats = ['yyyy-M-d', 'yyyy/M/d', 'yyyy.M.d'];
const formatsOf: Record<DateOrder, { longYear: string[]; shortYear: string[] }> = {
  'day-first': {
    longYear: ['d/M/yyyy', 'd-M-yyyy', 'd.M.yyyy', 'd MMM yyyy', 'd-MMM-yyyy', 'd/MMM/yyyy'],
    shortYear: ['d/M/yy', 'd-M-yy', 'd.M.yy', 'd MMM yy', 'd-MMM-yy'],
  },
  'month-first': {
    longYear: ['M/d/yyyy', 'M-d-yyyy', 'M.d.yyyy', 'MMM d yyyy'],
    shortYear: ['M/d/yy', 'M-d-yy', 'M.d.yy'],
  },
  'year-first': { longYear: [], shortYear: ['yy/M/d', 'yy-M-d', 'yy.M.d'] },
};
const timeFormats = ['H:mm:ss', 'H:mm', '', 'H:mm:ss.u', 'H.mm.ss', 'H.mm', 'h:mm:ss a', 'h:mm a'];
/** The names of months that Luxon reads. Other names are replaced by them. */
const readableMonths = Info.months('short', { locale: 'en' });
/** A record of another century was read in the wrong order. */
const years = { min: 2000, max: 2099 };

/** Indonesia's zones, and UTC. */
const zoneNames: Record<string, string> = {
  wib: 'UTC+7',
  wita: 'UTC+8',
  wit: 'UTC+9',
  utc: 'UTC',
  gmt: 'UTC',
  z: 'UTC',
};
const zonedPattern =
  /^(?<wall>.* \d{1,2}[:.]\d{2}.*?) ?(?:\(?(?<name>wib|wita|wit|utc|gmt|z)\)?|(?:utc|gmt)?(?<sign>[+-])(?<hours>0?\d|1[0-4])(?::?(?<minutes>[0-5]\d))?)$/i;

/**
 * Returns a reader of the times of one file. A time without a zone is in BUSINESS_TIMEZONE. The day
 * comes before the month, unless the caller names another order.
 * @param named The order of the file as named by the caller. Needed for two-digit years, and if the
 * month comes first.
 */
export function createTimeReader(named: DateOrder | undefined): (text: string) => Date {
  const dates = named
    ? [...clearFormats, ...formatsOf[named].longYear, ...formatsOf[named].shortYear]
    : [...clearFormats, ...formatsOf['day-first'].longYear];
  const formats = combine(dates);
  // The rows of a file have the same format.
  let last: string | undefined;
  return (text) => {
    const { wall, zone } = splitZone(replaceMonthNames(text.trim().replaceAll(/,? +|(?<=\d)T(?=\d)/g, ' ')));
    const format = last && parse(wall, last).isValid ? last : findFormat(wall, formats);
    if (!format) {
      throw new UnreadableTimeError(explain(wall, named));
    }
    last = format;
    return placeInZone(parse(wall, format), zone);
  };
}

/** Replaces Indonesian, long and misspelt names of months. */
function replaceMonthNames(text: string): string {
  return text.replaceAll(/[a-z]+/gi, (word) => readableMonths[findName(monthNames, word)] ?? word);
}

function combine(dates: string[]): string[] {
  return dates.flatMap((date) => timeFormats.map((time) => `${date} ${time}`.trim()));
}

function findFormat(wall: string, formats: string[]): string | undefined {
  return formats.find((each) => parse(wall, each).isValid);
}

function parse(wall: string, format: string): DateTime {
  const shown = DateTime.fromFormat(wall, format, { zone: 'utc', locale: 'en' });
  // Luxon reads 13:00 PM as 13:00.
  return format.endsWith('a') && !/ (?:0?[1-9]|1[0-2]):/.test(wall)
    ? DateTime.invalid('no such hour')
    : shown;
}

function splitZone(text: string): { wall: string; zone: string } {
  const { wall, name, sign, hours, minutes = '00' } = zonedPattern.exec(text)?.groups ?? {};
  if (wall === undefined) {
    return { wall: text, zone: env.BUSINESS_TIMEZONE };
  }
  const zone =
    name === undefined ? `UTC${sign ?? ''}${hours ?? ''}:${minutes}` : lookUp(zoneNames, name.toLowerCase());
  return { wall, zone: zone ?? '' };
}

/** Returns the instant at which clocks of the zone show this time. */
function placeInZone(shown: DateTime, zone: string): Date {
  const at = shown.setZone(zone, { keepLocalTime: true });
  if (shown.year < years.min || shown.year > years.max) {
    throw new UnreadableTimeError(`has a year before ${years.min} or after ${years.max}`);
  }
  if (!at.isValid || at.hour !== shown.hour || at.minute !== shown.minute) {
    throw new UnreadableTimeError('does not exist in its time zone');
  }
  return at.toJSDate();
}

function explain(wall: string, named: DateOrder | undefined): string {
  const isIn = (dates: string[]) => findFormat(wall, combine(dates)) !== undefined;
  const ask = `Name the order of the dates in the file: ${dateOrders.join(', ')}`;
  if (named) {
    return `is not a ${named} date, with or without a time`;
  }
  if (isIn(formatsOf['month-first'].longYear)) {
    return `does not begin with the day. ${ask}`;
  }
  if (dateOrders.some((order) => isIn(formatsOf[order].shortYear))) {
    return `has a year of two digits. ${ask}`;
  }
  return 'is not a date such as 2026-11-05 23:30:00 or 05/11/2026 23:30';
}
