import { DateTime } from 'luxon';
import { env } from '../../config/env.js';

/** A daily window in business time, HH:MM, in which a product cannot be sold. It may pass midnight. */
export interface CutOff {
  start: string;
  end: string;
}

/** The start belongs to the window, the end does not. A window that ends where it starts is none. */
export function isInCutOff(cutOff: CutOff | null | undefined, at: Date): boolean {
  if (!cutOff) {
    return false;
  }
  const start = minuteOf(cutOff.start);
  const end = minuteOf(cutOff.end);
  if (start === null || end === null || start === end) {
    return false;
  }
  const local = DateTime.fromJSDate(at, { zone: env.BUSINESS_TIMEZONE });
  const minute = local.hour * 60 + local.minute;
  return start < end ? minute >= start && minute < end : minute >= start || minute < end;
}

/** Minute of the day, or null if it is no time. Providers write `0:0` as well as `00:00`. */
export function minuteOf(time: string): number | null {
  const match = /^(\d{1,2}):(\d{1,2})$/.exec(time);
  const [hour, minute] = [Number(match?.[1]), Number(match?.[2])];
  return match && hour < 24 && minute < 60 ? hour * 60 + minute : null;
}
