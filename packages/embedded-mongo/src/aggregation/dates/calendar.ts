import { MongoError } from '../../errors.js';
import type { Zone } from './zone.js';

export const dayMillis = 86_400_000;

/** A date whose UTC fields are the local time of an instant in a zone. */
export function localDate(utcMillis: number, zone: Zone): Date {
  return new Date(utcMillis + zone.offsetAt(utcMillis));
}

/** Days since 1970-01-01 of a local date. */
export function dayNumber(local: Date): number {
  return Math.floor(local.getTime() / dayMillis);
}

/** As Date.UTC, but the year 50 is the year 50; parts out of range carry over. */
export function utcMillis(year: number, month: number, day: number, timeMillis = 0): number {
  return new Date(0).setUTCFullYear(year, month - 1, day) + timeMillis;
}

/** 1 to 366. */
export function dayOfYear(local: Date): number {
  return dayNumber(local) - utcMillis(local.getUTCFullYear(), 1, 1) / dayMillis + 1;
}

/** Monday is 1, Sunday 7. */
export function isoDayOfWeek(local: Date): number {
  return local.getUTCDay() === 0 ? 7 : local.getUTCDay();
}

const timeUnits = [
  'year',
  'quarter',
  'month',
  'week',
  'day',
  'hour',
  'minute',
  'second',
  'millisecond',
] as const;
export type TimeUnit = (typeof timeUnits)[number];

/** Error 9. */
export function parseTimeUnit(name: string, operator: string): TimeUnit {
  const unit = timeUnits.find((known) => known === name);
  if (unit === undefined) {
    throw new MongoError(
      9,
      `${operator} parameter 'unit' value parsing failed :: unknown time unit value: ${name}`,
    );
  }
  return unit;
}

const dayNames = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

/** Monday is 1, Sunday 7; full names and the first three letters, in any case. Error 5439016. */
export function parseDayOfWeek(name: string, operator: string): number {
  const lower = name.toLowerCase();
  const index = dayNames.findIndex((day) => day === lower || day.slice(0, 3) === lower);
  if (index < 0) {
    throw new MongoError(
      5439016,
      `${operator} parameter 'startOfWeek' value cannot be recognized as a day of a week: ${name}`,
    );
  }
  return index + 1;
}
