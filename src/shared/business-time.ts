/** Business days and times, in BUSINESS_TIMEZONE. */
import { LRUCache } from 'lru-cache';
import { DateTime } from 'luxon';
import { env } from '../../config/env.js';
import { readHolidays } from '../../config/holidays.js';
import { limits } from '../../config/limits.js';
import { now, nowMs } from './clock.js';
import { ValidationError } from './errors.js';
import { say } from './say.js';

export interface Period {
  start: Date;
  /** The last millisecond that belongs to the period. */
  end: Date;
}

/** How a call names the ends of a period. */
interface EndNames {
  start: string;
  end: string;
}

const clientNames: EndNames = { start: 'start_date', end: 'end_date' };
/** As the lists of operators name them. */
export const dayNames: EndNames = { start: 'from', end: 'to' };

/**
 * The period that a client asks for (docs/reference/api/lists.md): `YYYY-MM-DD` is the whole day in business time, an
 * ISO time is that instant; both ends are included. Without a start, 30 days up to the end; without an end, now.
 * @throws ValidationError for an end before the start, or more than 366 days.
 */
export function periodOf(
  startDate: string | undefined,
  endDate: string | undefined,
  names = clientNames,
): Period {
  const end = endDate === undefined ? endOfToday() : lastInstant(endDate);
  const start =
    startDate === undefined
      ? end.minus({ days: limits.historyDaysDefault - 1 }).startOf('day')
      : firstInstant(startDate);
  refuseBackwards(start.toJSDate(), end.toJSDate(), names);
  if (end.diff(start, 'days').days > limits.historyDaysMax) {
    throw new ValidationError([
      {
        field: names.start,
        reason: 'out_of_range',
        message: say('periodTooLong', { ...names, max: limits.historyDaysMax }),
      },
    ]);
  }
  return { start: start.toJSDate(), end: end.toJSDate() };
}

/** The instant of an ISO time, or at which a day (YYYY-MM-DD) begins in business time. */
export function startOf(date: string): Date {
  return firstInstant(date).toJSDate();
}

/** The instant at which yesterday began in business time. */
export function startOfYesterday(): Date {
  return startOf(daysAfter(businessDay(now()), -1));
}

/** The instant of an ISO time, or the last millisecond of a day (YYYY-MM-DD) in business time. */
export function endOf(date: string): Date {
  return lastInstant(date).toJSDate();
}

/** `hour`:00 business time on the next business day: Monday to Friday, but for config/holidays.json. */
export function nextBusinessDayAt(hour: number): Date {
  const holidays = readHolidays().days;
  let day = DateTime.fromMillis(nowMs(), { zone: env.BUSINESS_TIMEZONE }).startOf('day');
  do {
    day = day.plus({ days: 1 });
  } while (day.weekday > 5 || holidays.has(day.toISODate() ?? ''));
  return day.set({ hour }).toJSDate();
}

/** YYYY-MM-DD of an instant, business time. */
export function businessDay(at: Date): string {
  return DateTime.fromJSDate(at, { zone: env.BUSINESS_TIMEZONE }).toFormat('yyyy-MM-dd');
}

/** `2026-11-21 17:20:30.123 WIB`: business time for people, with its zone. */
export function businessTime(at: Date): string {
  // Indonesian names Indonesia's zones; in English they are offsets.
  const here = DateTime.fromJSDate(at, { zone: env.BUSINESS_TIMEZONE }).setLocale('id');
  return here.toFormat('yyyy-MM-dd HH:mm:ss.SSS ZZZZ');
}

/** The day (YYYY-MM-DD) that many days after another one. */
export function daysAfter(day: string, days: number): string {
  return DateTime.fromISO(day, { zone: 'utc' }).plus({ days }).toFormat('yyyy-MM-dd');
}

/** A business day, YYYY-MM-DD, with its first and its last millisecond. */
export interface BusinessDay {
  day: string;
  startMs: number;
  endMs: number;
}

let lastAsked: BusinessDay = { day: '', startMs: 0, endMs: -1 };

/** The business day of an instant. Asked for every purchase, and mostly for the same day. */
export function businessDayOf(at: Date): BusinessDay {
  const ms = at.getTime();
  if (ms < lastAsked.startMs || ms > lastAsked.endMs) {
    const date = DateTime.fromMillis(ms, { zone: env.BUSINESS_TIMEZONE });
    lastAsked = {
      day: date.toFormat('yyyy-MM-dd'),
      startMs: date.startOf('day').toMillis(),
      endMs: date.endOf('day').toMillis(),
    };
  }
  return lastAsked;
}

const daysByName = new LRUCache<string, BusinessDay>({
  max: 2_000,
  memoMethod: (day) => businessDayOf(startOf(day)),
});

/** The business day of this name, YYYY-MM-DD. A history asks for a year of them. */
export function businessDayNamed(day: string): BusinessDay {
  return daysByName.memo(day);
}

/**
 * From the first moment of one business day to the last of another (YYYY-MM-DD); what is left out is no bound.
 * @throws ValidationError for an end before the start.
 */
export function periodOfDays({ from, to }: { from?: string | undefined; to?: string | undefined }): {
  since: Date | undefined;
  until: Date | undefined;
} {
  const since = from === undefined ? undefined : new Date(businessDayNamed(from).startMs);
  const until = to === undefined ? undefined : new Date(businessDayNamed(to).endMs);
  refuseBackwards(since, until, dayNames);
  return { since, until };
}

/**
 * A filter that nothing can fit is a mistake, and an empty list would hide it.
 * @throws ValidationError for an end before the start.
 */
export function refuseBackwards(
  start: Date | undefined,
  end: Date | undefined,
  names: EndNames = clientNames,
): void {
  if (start && end && end < start) {
    throw new ValidationError([
      { field: names.end, reason: 'out_of_range', message: say('endBeforeStart', { ...names }) },
    ]);
  }
}

/** The same time of day so many months earlier, business time. */
export function monthsBefore(atMs: number, months: number): Date {
  return DateTime.fromMillis(atMs, { zone: env.BUSINESS_TIMEZONE }).minus({ months }).toJSDate();
}

/** The last millisecond of today, business time. */
export function endOfBusinessDay(): Date {
  return endOfToday().toJSDate();
}

function endOfToday(): DateTime {
  return DateTime.fromMillis(nowMs(), { zone: env.BUSINESS_TIMEZONE }).endOf('day');
}

function firstInstant(date: string): DateTime {
  return DateTime.fromISO(date, { zone: env.BUSINESS_TIMEZONE });
}

function lastInstant(date: string): DateTime {
  const parsed = firstInstant(date);
  return date.length === 'YYYY-MM-DD'.length ? parsed.endOf('day') : parsed;
}
