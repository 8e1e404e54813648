import { language } from './text/text.js';

const locale = language === 'id' ? 'id-ID' : 'en-GB';

/**
 * Formats an amount as `Rp 1.250.000`. The format is Indonesian in both languages, as on every
 * receipt.
 */
export function formatRupiah(amount: number): string {
  const digits = new Intl.NumberFormat('id-ID').format(Math.abs(amount));
  return `${amount < 0 ? '−' : ''}Rp ${digits}`;
}

/** Formats an instant as `21 Nov 2026, 12:35:07 GMT+7` in the given time zone. */
export function formatTime(zone: string, at: string): string {
  return new Intl.DateTimeFormat(locale, {
    timeZone: zone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
  }).format(new Date(at));
}

const relativeTimeUnits: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** Formats an instant relative to now, such as `3 hours ago`. */
export function formatAgo(at: string): string {
  const seconds = Math.max(0, (Date.now() - Date.parse(at)) / 1_000);
  const words = new Intl.RelativeTimeFormat(locale, { numeric: 'always' });
  const [unit, length] = relativeTimeUnits.find(([, each]) => seconds >= each) ?? (['second', 1] as const);
  return words.format(-Math.floor(seconds / length), unit);
}

/** Formats a number as `1.250`, with the same separators as an amount. */
export function formatCount(value: number): string {
  return new Intl.NumberFormat('id-ID').format(value);
}

/**
 * Formats a share as `98.4 %`. The share is rounded down, so that 99.99 % is never shown as 100 %.
 */
export function formatPercent(share: number): string {
  const permille = Math.floor(share * 1_000) / 10;
  return `${new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }).format(permille)} %`;
}

/** Formats a duration as `80 ms`, `4.8 s`, `45 s`, `12 min` or `3 h`. */
export function formatSeconds(value: number): string {
  const write = (of: number, unit: string) =>
    `${new Intl.NumberFormat(locale, { maximumFractionDigits: of < 10 ? 1 : 0 }).format(of)} ${unit}`;
  if (value < 1) {
    return write(Math.round(value * 1_000), 'ms');
  }
  if (value < 120) {
    return write(value, 's');
  }
  return value < 7_200 ? write(value / 60, 'min') : write(value / 3_600, 'h');
}

/** Formats an instant as `14:00` in the given time zone. */
export function formatClockTime(zone: string, at: string): string {
  return new Intl.DateTimeFormat(locale, {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(new Date(at));
}

/** Formats the day of an instant as `21 Nov` in the given time zone. */
export function formatDate(zone: string, at: string): string {
  return new Intl.DateTimeFormat(locale, { timeZone: zone, day: 'numeric', month: 'short' }).format(
    new Date(at),
  );
}

/**
 * Formats a business day as `21 Nov`. A business day has no time, so its time zone is not
 * converted.
 */
export function formatBusinessDay(day: string): string {
  return new Intl.DateTimeFormat(locale, { timeZone: 'UTC', day: 'numeric', month: 'short' }).format(
    new Date(`${day}T00:00:00Z`),
  );
}
