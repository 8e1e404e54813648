import { dayMillis, dayNumber, isoDayOfWeek, localDate, utcMillis, type TimeUnit } from './calendar.js';
import { localToUtc, type Zone } from './zone.js';

/** Units of a fixed length: they are cut in UTC, as counted from a midnight of the zone. */
const fixedMillis: Partial<Record<TimeUnit, number>> = {
  hour: 3_600_000,
  minute: 60_000,
  second: 1000,
  millisecond: 1,
};

const referenceUtc = utcMillis(2000, 1, 1);

/** `$dateTrunc`: the start of the unit that an instant falls into. `weekStart`: Monday is 1, Sunday 7. */
export function truncateDate(
  instant: number,
  { unit, zone, weekStart }: { readonly unit: TimeUnit; readonly zone: Zone; readonly weekStart: number },
): number {
  const fixed = fixedMillis[unit];
  if (fixed !== undefined) {
    const reference = referenceUtc - zone.offsetAt(referenceUtc);
    const rest = (instant - reference) % fixed;
    return instant - (rest < 0 ? rest + fixed : rest);
  }
  const local = localDate(instant, zone);
  const [year, month] = [local.getUTCFullYear(), local.getUTCMonth()];
  switch (unit) {
    case 'day':
      return localToUtc(dayNumber(local) * dayMillis, zone);
    case 'week': {
      const dayInWeek = (isoDayOfWeek(local) - weekStart + 7) % 7;
      return localToUtc((dayNumber(local) - dayInWeek) * dayMillis, zone);
    }
    case 'month':
      return localToUtc(utcMillis(year, month + 1, 1), zone);
    case 'quarter':
      return localToUtc(utcMillis(year, month - (month % 3) + 1, 1), zone);
    default:
      return localToUtc(utcMillis(year, 1, 1), zone);
  }
}
