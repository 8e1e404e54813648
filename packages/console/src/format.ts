import { language } from './text/text.js';

const locale = language === 'id' ? 'id-ID' : 'en-GB';

/** `Rp 1.250.000`: written the Indonesian way in either language, as on every receipt. */
export function rupiah(amount: number): string {
  const digits = new Intl.NumberFormat('id-ID').format(Math.abs(amount));
  return `${amount < 0 ? '−' : ''}Rp ${digits}`;
}

/** `21 Nov 2026, 12:35:07 GMT+7`: in the zone of the business, wherever the browser is. */
export function timeIn(zone: string, at: string): string {
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

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** `3 hours ago` */
export function ago(at: string): string {
  const seconds = Math.max(0, (Date.now() - Date.parse(at)) / 1_000);
  const words = new Intl.RelativeTimeFormat(locale, { numeric: 'always' });
  const [unit, length] = steps.find(([, each]) => seconds >= each) ?? (['second', 1] as const);
  return words.format(-Math.floor(seconds / length), unit);
}
