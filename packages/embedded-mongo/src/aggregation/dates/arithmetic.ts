import { MongoError } from '../../errors.js';
import { dayMillis, dayNumber, isoDayOfWeek, localDate, utcMillis } from './calendar.js';
import type { TimeUnit } from './calendar.js';
import { localToUtc } from './zone.js';
import type { Zone } from './zone.js';

/** Units of a fixed length: they are counted in UTC, so that a change of the clock does not bend them. */
const fixedMillis: Partial<Record<TimeUnit, number>> = {
  hour: 3_600_000,
  minute: 60_000,
  second: 1000,
  millisecond: 1,
};

const monthsOf: Partial<Record<TimeUnit, number>> = { year: 12, quarter: 3, month: 1 };

/**
 * `$dateAdd`: units of a day and longer keep the local time of day; a day that the resulting month does
 * not have becomes its last. Error 5976500.
 */
export function addToDate(start: number, unit: TimeUnit, amount: number, zone: Zone): number {
  checkAmount(unit, amount);
  const fixed = fixedMillis[unit];
  if (fixed !== undefined) {
    return start + amount * fixed;
  }
  const local = localDate(start, zone);
  const months = monthsOf[unit];
  if (months !== undefined) {
    return localToUtc(addMonths(local, amount * months), zone);
  }
  const days = unit === 'week' ? amount * 7 : amount;
  return localToUtc(local.getTime() + days * dayMillis, zone);
}

function addMonths(local: Date, months: number): number {
  const month = local.getUTCFullYear() * 12 + local.getUTCMonth() + months;
  const [year, index] = [Math.floor(month / 12), month - Math.floor(month / 12) * 12];
  const lastDay = new Date(utcMillis(year, index + 2, 0)).getUTCDate();
  const timeOfDay = local.getTime() - dayNumber(local) * dayMillis;
  return utcMillis(year, index + 1, Math.min(local.getUTCDate(), lastDay), timeOfDay);
}

const daysMax = 213_503_982_335;
const amountMax: Readonly<Record<Exclude<TimeUnit, 'millisecond'>, number>> = {
  year: 584_942_418,
  quarter: 584_942_418 * 4,
  month: 584_942_418 * 12,
  week: Math.floor(daysMax / 7),
  day: daysMax,
  hour: daysMax * 24,
  minute: daysMax * 1440,
  second: daysMax * 86_400,
};

function checkAmount(unit: TimeUnit, amount: number): void {
  if (unit !== 'millisecond' && Math.abs(amount) >= amountMax[unit]) {
    throw new MongoError(5976500, `invalid dateAdd 'amount' parameter value: ${amount} ${unit}`);
  }
}

/** `$dateDiff`: the number of unit boundaries between two instants. `weekStart`: Monday is 1, Sunday 7. */
export function differenceOf(
  { start, end }: { readonly start: number; readonly end: number },
  { unit, zone, weekStart }: { readonly unit: TimeUnit; readonly zone: Zone; readonly weekStart: number },
): number {
  if (unit === 'millisecond') {
    return end - start;
  }
  const [from, to] = [localDate(start, zone), localDate(end, zone)];
  switch (unit) {
    case 'year':
      return to.getUTCFullYear() - from.getUTCFullYear();
    case 'quarter':
      return quarterNumber(to) - quarterNumber(from);
    case 'month':
      return monthNumber(to) - monthNumber(from);
    case 'week':
      return weekNumber(to, weekStart) - weekNumber(from, weekStart);
    case 'day':
      return dayNumber(to) - dayNumber(from);
    case 'hour':
    case 'minute':
    case 'second':
      return countBoundaries({ start, end }, { from, to }, fixedMillis[unit] ?? 1);
  }
}

/** Boundaries of the local clock, corrected by whole units of the change of offset between the two. */
function countBoundaries(
  { start, end }: { readonly start: number; readonly end: number },
  { from, to }: { readonly from: Date; readonly to: Date },
  unitMillis: number,
): number {
  const boundaries = Math.floor(to.getTime() / unitMillis) - Math.floor(from.getTime() / unitMillis);
  const change = from.getTime() - start - (to.getTime() - end);
  return boundaries + Math.trunc(change / unitMillis);
}

const monthNumber = (local: Date): number => local.getUTCFullYear() * 12 + local.getUTCMonth();
const quarterNumber = (local: Date): number => Math.floor(monthNumber(local) / 3);

/** The number of a week that begins on the given day; 1970-01-01 was a Thursday. */
function weekNumber(local: Date, weekStart: number): number {
  const dayInWeek = (isoDayOfWeek(local) - weekStart + 7) % 7;
  return Math.round((dayNumber(local) - dayInWeek) / 7);
}

/** How `$dateTrunc` cuts: bins of `binSize` units, counted from 2000-01-01 in the zone. */
export interface Truncation {
  readonly unit: TimeUnit;
  readonly binSize: number;
  readonly zone: Zone;
  readonly weekStart: number;
}

const referenceUtc = utcMillis(2000, 1, 1);
const binSizeMax = 100_000_000_000;

/** `$dateTrunc`: the start of the bin an instant falls into. Error 5439006. */
export function truncateDate(instant: number, { unit, binSize, zone, weekStart }: Truncation): number {
  const reference = referenceUtc - zone.offsetAt(referenceUtc);
  const fixed = fixedMillis[unit];
  if (fixed !== undefined) {
    return instant - positiveRest(instant - reference, binSize * fixed);
  }
  if (binSize > binSizeMax) {
    throw new MongoError(5439006, 'dateTrunc unsupported binSize value');
  }
  const local = localDate(instant, zone);
  switch (unit) {
    case 'day':
      return startOfDay(dayNumber(local), { origin: referenceDay, size: binSize, zone });
    case 'week': {
      // The first week that begins in 2000 is week 0; 2000-01-01 was a Saturday.
      const origin = referenceDay + ((weekStart - 6 + 7) % 7);
      return startOfDay(dayNumber(local), { origin, size: binSize * 7, zone });
    }
    default: {
      const months = monthNumber(local) - 2000 * 12;
      const first = months - positiveRest(months, binSize * (monthsOf[unit] ?? 1));
      return localToUtc(utcMillis(2000, 1 + first, 1), zone);
    }
  }
}

const referenceDay = referenceUtc / dayMillis;

function startOfDay(
  day: number,
  { origin, size, zone }: { readonly origin: number; readonly size: number; readonly zone: Zone },
): number {
  return localToUtc((day - positiveRest(day - origin, size)) * dayMillis, zone);
}

function positiveRest(value: number, divisor: number): number {
  const rest = value % divisor;
  return rest < 0 ? rest + divisor : rest;
}
