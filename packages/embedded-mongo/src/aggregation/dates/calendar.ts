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
