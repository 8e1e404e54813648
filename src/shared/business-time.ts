/** Business days and times in BUSINESS_TIMEZONE. */
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
  /** The last millisecond of the period. */
  end: Date;
}

/** Field names of the ends of a period. */
interface PeriodFieldNames {
  start: string;
  end: string;
}

const clientNames: PeriodFieldNames = { start: 'start_date', end: 'end_date' };
/** Field names of the period in the lists of operators. */
export const dayNames: PeriodFieldNames = { start: 'from', end: 'to' };

/**
 * Parses the period of a call (docs/reference/api/lists.md). `YYYY-MM-DD` is a whole day in
 * business time, an ISO time is that instant. Both ends are included.
 * The default end is the end of today. By default the period has 30 days.
 * @throws ValidationError if the end is before the start, or if the period has more than 366 days.
 */
export function parsePeriod(
  startDate: string | undefined,
  endDate: string | undefined,
  names = clientNames,
): Period {
  const end = endDate === undefined ? getEndOfToday() : getLastInstant(endDate);
  const start =
    startDate === undefined
      ? findStartOfDay(end.minus({ days: limits.historyDaysDefault - 1 }))
      : getFirstInstant(startDate);
  requireChronological(start.toJSDate(), end.toJSDate(), names);
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

/** Returns the instant of an ISO time, or the start of a day (YYYY-MM-DD) in business time. */
export function getStartOfDay(date: string): Date {
  return getFirstInstant(date).toJSDate();
}

/** Returns the start of yesterday in business time. */
export function getStartOfYesterday(): Date {
  return getStartOfDay(addDays(formatBusinessDay(now()), -1));
}

/**
 * Returns the instant of an ISO time, or the last millisecond of a day (YYYY-MM-DD) in business
 * time.
 */
export function getEndOfDay(date: string): Date {
  return getLastInstant(date).toJSDate();
}

/**
 * Returns `hour`:00 on the next business day: Monday to Friday, except for bank holidays
 * (config/holidays.ts).
 */
export function getNextBusinessDayAt(hour: number): Date {
  const holidays = readHolidays().days;
  let day = DateTime.fromMillis(nowMs(), { zone: env.BUSINESS_TIMEZONE }).startOf('day');
  do {
    day = day.plus({ days: 1 });
  } while (day.weekday > 5 || holidays.has(day.toISODate() ?? ''));
  return day.set({ hour }).toJSDate();
}

/** Returns the business day of an instant as YYYY-MM-DD. */
export function formatBusinessDay(at: Date): string {
  return DateTime.fromJSDate(at, { zone: env.BUSINESS_TIMEZONE }).toFormat('yyyy-MM-dd');
}

/** Formats an instant in business time with its zone, such as `2026-11-21 17:20:30.123 WIB`. */
export function formatBusinessTime(at: Date): string {
  // The Indonesian locale names Indonesia's zones. The English one has only offsets.
  const here = DateTime.fromJSDate(at, { zone: env.BUSINESS_TIMEZONE }).setLocale('id');
  return here.toFormat('yyyy-MM-dd HH:mm:ss.SSS ZZZZ');
}

/** Returns the day (YYYY-MM-DD) `days` days after another one. */
export function addDays(day: string, days: number): string {
  // Luxon takes ten times as long, and a bank statement asks for each of its lines.
  const atMs = Date.parse(`${day}T00:00:00Z`) + days * dayMs;
  return Number.isNaN(atMs) ? 'Invalid day' : new Date(atMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/** A business day (YYYY-MM-DD) with its first and last millisecond. */
export interface BusinessDay {
  day: string;
  startMs: number;
  endMs: number;
}

const dayMs = 86_400_000;
/** The business days that are known, by the UTC day that they overlap. */
const daysByUtcDay = new LRUCache<number, BusinessDay[]>({ max: 1_000 });

/** Returns the business day of an instant. Cached, because a statement asks for thousands of instants. */
export function getBusinessDay(at: Date): BusinessDay {
  const ms = at.getTime();
  const utcDay = Math.floor(ms / dayMs);
  const known = daysByUtcDay.get(utcDay) ?? [];
  const found = known.find(({ startMs, endMs }) => ms >= startMs && ms <= endMs);
  if (found) {
    return found;
  }
  const date = DateTime.fromMillis(ms, { zone: env.BUSINESS_TIMEZONE });
  const fresh: BusinessDay = {
    day: date.toFormat('yyyy-MM-dd'),
    startMs: findStartOfDay(date).toMillis(),
    endMs: findEndOfDay(date).toMillis(),
  };
  daysByUtcDay.set(utcDay, [...known, fresh]);
  return fresh;
}

const daysByName = new LRUCache<string, BusinessDay>({
  max: 2_000,
  memoMethod: (day) => getBusinessDay(getStartOfDay(day)),
});

/**
 * Returns a business day by its name (YYYY-MM-DD). Cached, because a history needs a year of them.
 */
export function getBusinessDayByName(day: string): BusinessDay {
  return daysByName.memo(day);
}

/**
 * Returns the first moment of one business day and the last of another (YYYY-MM-DD). If a day is
 * missing, that side is unbounded.
 * @throws ValidationError for an end before the start.
 */
export function parseDays({ from, to }: { from?: string | undefined; to?: string | undefined }): {
  since: Date | undefined;
  until: Date | undefined;
} {
  const since = from === undefined ? undefined : new Date(getBusinessDayByName(from).startMs);
  const until = to === undefined ? undefined : new Date(getBusinessDayByName(to).endMs);
  requireChronological(since, until, dayNames);
  return { since, until };
}

/**
 * Refuses a filter that nothing can match, because an empty list would hide the mistake.
 * @throws ValidationError if the end is before the start.
 */
export function requireChronological(
  start: Date | undefined,
  end: Date | undefined,
  names: PeriodFieldNames = clientNames,
): void {
  if (start && end && end < start) {
    throw new ValidationError([
      { field: names.end, reason: 'out_of_range', message: say('endBeforeStart', { ...names }) },
    ]);
  }
}

/** Returns the instant `months` months earlier, at the same time of day in business time. */
export function subtractMonths(atMs: number, months: number): Date {
  return DateTime.fromMillis(atMs, { zone: env.BUSINESS_TIMEZONE }).minus({ months }).toJSDate();
}

/** Returns the last millisecond of today in business time. */
export function getEndOfBusinessDay(): Date {
  return getEndOfToday().toJSDate();
}

function getEndOfToday(): DateTime {
  return findEndOfDay(DateTime.fromMillis(nowMs(), { zone: env.BUSINESS_TIMEZONE }));
}

function getFirstInstant(date: string): DateTime {
  const parsed = DateTime.fromISO(date, { zone: env.BUSINESS_TIMEZONE });
  return isDay(date) ? findStartOfDay(parsed) : parsed;
}

function getLastInstant(date: string): DateTime {
  const parsed = DateTime.fromISO(date, { zone: env.BUSINESS_TIMEZONE });
  return isDay(date) ? findEndOfDay(parsed) : parsed;
}

function isDay(date: string): boolean {
  return date.length === 'YYYY-MM-DD'.length;
}

/**
 * Returns the first instant of a day. Where the clocks go back over midnight, midnight occurs
 * twice, and Luxon may return the second one.
 */
function findStartOfDay(at: DateTime): DateTime {
  const midnight = at.startOf('day');
  const before = midnight.minus({ milliseconds: 1 });
  return before.hasSame(midnight, 'day')
    ? midnight.minus({ minutes: before.offset - midnight.offset })
    : midnight;
}

function findEndOfDay(at: DateTime): DateTime {
  return findStartOfDay(at.startOf('day').plus({ days: 1 })).minus({ milliseconds: 1 });
}

/**
 * Formats a time as ISO 8601 with milliseconds: in UTC, or with the offset of a zone (see
 * `findTimeZone`) at that instant.
 */
export function formatIsoTime(at: Date, zone?: string | null): string {
  return (zone && DateTime.fromJSDate(at, { zone }).toISO()) || at.toISOString();
}

/**
 * Returns an IANA time zone in its canonical spelling, so that caches have one entry per zone. Null
 * if there is no such zone.
 */
export function findTimeZone(name: string): string | null {
  try {
    // Newer versions of Node also accept offsets, but an offset has no daylight saving time.
    return /^[a-z]/i.test(name)
      ? new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
      : null;
  } catch {
    return null;
  }
}
