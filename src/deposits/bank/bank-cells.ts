/** Days, directions and amounts in bank statements. */
import { DateTime } from 'luxon';
import { env } from '../../../config/env.js';
import { addDays } from '../../shared/business-time.js';
import { lookUp } from '../../shared/collections.js';
import { findName, monthNames, weekdayNames } from '../../shared/month-names.js';

/** Rules for the days of one file, from its headings and its period. */
export interface DayRules {
  /** True if the heading says that the month comes first. */
  isMonthFirst?: boolean;
  /** Period of the statement. It gives the year of days without one. */
  period?: { first: string; last: string } | null;
}

/** Longest day with a weekday, a time and a zone. Longer cells are no days. */
const dayLengthMax = 60;

const timePattern =
  /^[T\s,]+(\d{1,2})[:.](\d{2})(?:[:.](\d{2})(?:[.,]\d{1,9})?)?\s*([AP]M)?\s*(WIB|WITA|WIT|Z|UTC|GMT|[+-]\d{2}:?\d{2})?$/i;

/** Each way to write a day, with the place of year, month and day among its groups. */
const dayPatterns: readonly {
  pattern: RegExp;
  day: number;
  month: number;
  year: number;
  isNumeric?: boolean;
}[] = [
  { pattern: /^(\d{4})([-/.]?)(\d{2})\2(\d{2})/, year: 1, month: 3, day: 4 },
  { pattern: /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})/, day: 1, month: 3, year: 4, isNumeric: true },
  { pattern: /^(\d{1,2})([-/.])(\d{1,2})\2(\d{2})/, day: 1, month: 3, year: 4, isNumeric: true },
  { pattern: /^(\d{1,2})([-/.])(\d{1,2})/, day: 1, month: 3, year: 4, isNumeric: true },
  { pattern: /^(\d{1,2})[-/\s.]*([a-z]{3,9})[-/\s.,]*(\d{4})/i, day: 1, month: 2, year: 3 },
  { pattern: /^(\d{1,2})[-/\s.]*([a-z]{3,9})[-/\s.,]*(\d{2})/i, day: 1, month: 2, year: 3 },
  { pattern: /^(\d{1,2})[-/\s.]*([a-z]{3,9})\.?/i, day: 1, month: 2, year: 3 },
  { pattern: /^([a-z]{3,9})\.?[-/\s]*(\d{1,2})[-/\s,]+(\d{4})/i, month: 1, day: 2, year: 3 },
];

/**
 * Parses a day: 2026-11-23, 23/11/2026, 23-11-26, 23 Nov 2026, Nov 23, 2026 or 20261123, optionally
 * after a weekday and before a time. A time with a zone is converted to BUSINESS_TIMEZONE. Without a
 * year, 23/11 is that day of the statement's period, or else the latest such day up to tomorrow.
 * @param today YYYY-MM-DD.
 * @returns YYYY-MM-DD, or null if the text is not a day, or contradicts its weekday.
 */
export function parseDay(text: string, today: string, rules: DayRules = {}): string | null {
  const whole = text.replace(/^['\s]+/, '').trim();
  const [, word = '', after = ''] = /^([a-z']{3,9})[,.]?\s+(.*)$/is.exec(whole) ?? [];
  const weekday = findName(weekdayNames, word);
  const cell = weekday < 0 ? whole : after;
  if (whole.length > dayLengthMax) {
    return null;
  }
  for (const each of dayPatterns) {
    const found = each.pattern.exec(cell);
    const time = found && readTime(cell.slice(found[0].length));
    if (found && time) {
      const isSwapped = each.isNumeric === true && rules.isMonthFirst === true;
      const [day, month] = isSwapped
        ? [found[each.month], found[each.day]]
        : [found[each.day], found[each.month]];
      const read = resolveDay({ day, month: numberOfMonth(month), year: found[each.year] }, today, rules);
      const moved = read === null ? null : moveToBusinessZone(read, time);
      return moved === null || weekday < 0 || getWeekday(read ?? '') === weekday ? moved : null;
    }
  }
  return null;
}

interface DayParts {
  day: string | undefined;
  month: string;
  year: string | undefined;
}

function resolveDay({ day, month, year }: DayParts, today: string, { period }: DayRules): string | null {
  if (year !== undefined) {
    return buildValidDay(year.length === 2 ? `20${year}` : year, month, day);
  }
  const thisYear = Number(today.slice(0, 4));
  const [first, last] = period ? [period.first, period.last] : ['', addDays(today, 1)];
  const years = [thisYear + 1, thisYear, thisYear - 1, Number(last.slice(0, 4)), Number(first.slice(0, 4))];
  const found = years.map((each) => buildValidDay(String(each), month, day));
  return found.find((each) => each !== null && each >= first && each <= last) ?? null;
}

function numberOfMonth(month = ''): string {
  return /^\d/.test(month) ? month : String(findName(monthNames, month) + 1);
}

interface Time {
  hour: number;
  minute: number;
  zone: string | null;
}

/** Names of zones, in the form that Luxon reads. */
const zones: Readonly<Record<string, string>> = {
  WIB: 'UTC+7',
  WITA: 'UTC+8',
  WIT: 'UTC+9',
  Z: 'UTC',
  UTC: 'UTC',
  GMT: 'UTC',
};

/** Reads what follows a day. Returns null if it is not a time. */
function readTime(text: string): Time | null {
  if (text.trim() === '') {
    return { hour: 0, minute: 0, zone: null };
  }
  const [whole, hour, minute, second = '0', half, zone] = timePattern.exec(text) ?? [];
  const isClock = Number(minute) < 60 && Number(second) < 60 && Number(hour) < 24;
  if (whole === undefined || !isClock || (half !== undefined && (Number(hour) < 1 || Number(hour) > 12))) {
    return null;
  }
  const shift = half === undefined ? Number(hour) : (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0);
  const name = zone?.toUpperCase() ?? '';
  return {
    hour: shift,
    minute: Number(minute),
    zone:
      zone === undefined
        ? null
        : (lookUp(zones, name) ?? `UTC${name.replace(/^UTC|:/g, '').replace(/\d{2}$/, ':$&')}`),
  };
}

function moveToBusinessZone(day: string, { hour, minute, zone }: Time): string | null {
  return zone === null
    ? day
    : DateTime.fromISO(day, { zone }).set({ hour, minute }).setZone(env.BUSINESS_TIMEZONE).toISODate();
}

function getWeekday(day: string): number {
  return new Date(`${day}T00:00:00Z`).getUTCDay();
}

/**
 * Detects the order of day and month in a cell: 23/11/2026 is `day-first`, 11/23/2026 is
 * `month-first`, and 11/09/2026 is `untold`. If one cell of a file is month-first, the `untold`
 * days of the file are ambiguous.
 * @returns Null if the order does not matter.
 */
export function detectDayOrder(text: string): 'day-first' | 'month-first' | 'untold' | null {
  const [, first = '', second = ''] =
    /^['\s]*(\d{1,2})[-/.](\d{1,2})(?:[-/.](?:\d{4}|\d{2}))?(?![\d/.-])/.exec(text) ?? [];
  const [one, other] = [Number(first), Number(second)];
  if (one === other) {
    return null;
  }
  // In a text such as 31/15, neither number can be the month.
  if (one > 12) {
    return other > 12 ? null : 'day-first';
  }
  return other > 31 ? null : other > 12 ? 'month-first' : 'untold';
}

function buildValidDay(year = '', month = '', day = ''): string | null {
  const name = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const at = new Date(`${name}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(name) ? name : null;
}

export type Direction = 'in' | 'out';

/** True for a cell that stands for no amount, such as `-` or Mandiri's `.00`. */
export function isBlankAmount(text: string): boolean {
  return /^(?:Rp\.?|IDR)?\s*(?:-{1,2}|[.,]0{1,2})?$/i.test(text);
}

const incomingWords = [
  'CR',
  'C',
  'K',
  'KR',
  'KREDIT',
  'CREDIT',
  'KREDET',
  'MASUK',
  'UANGMASUK',
  'DANAMASUK',
  'PEMASUKAN',
  'INCOMING',
];
const outgoingWords = [
  'DB',
  'DR',
  'D',
  'DEBIT',
  'DEBET',
  'DEBT',
  'KELUAR',
  'UANGKELUAR',
  'DANAKELUAR',
  'PENGELUARAN',
  'OUTGOING',
];

const incomingPhrase = /\b(?:masuk|pemasukan|penerimaan|incoming|inward)\b/i;
const outgoingPhrase = /\b(?:keluar|pengeluaran|penarikan|tarik|outgoing|outward|withdrawal)\b/i;

/**
 * Parses a bank's word for incoming or outgoing money. Returns null for any other word, and for a word
 * with a mark, such as `K-` or `(CR)`, which banks use for reversals.
 */
export function parseDirection(text: string): Direction | null {
  return (
    findDirection(text.trim().replace(/^'/, '').replaceAll(/[\s.]/g, '')) ??
    findDirectionInPhrase(text.trim())
  );
}

/** Finds a direction in a phrase, such as `Transfer Masuk`. A credit card is no direction. */
function findDirectionInPhrase(text: string): Direction | null {
  if (!/^[a-z]+(?:[-/ ]+[a-z]+)+$/i.test(text)) {
    return null;
  }
  const isIn = incomingPhrase.test(text);
  return isIn === outgoingPhrase.test(text) ? null : isIn ? 'in' : 'out';
}

/** True for a direction with a mark, such as `K-`: it may be a reversal. */
export function isMarkedDirection(text: string): boolean {
  return parseDirection(text) === null && findDirection(text.replaceAll(/[^A-Za-z]/g, '')) !== null;
}

function findDirection(text: string): Direction | null {
  const word = text.toUpperCase();
  if (incomingWords.includes(word)) {
    return 'in';
  }
  return outgoingWords.includes(word) ? 'out' : null;
}

export type DecimalMark = '.' | ',';

export interface BankAmount {
  /** Amount in rupiah, without the sign. */
  amount: number;
  /** The direction given by the sign or the word next to the figure. Null if there is neither. */
  direction: Direction | null;
}

/**
 * Parses an amount: 1.250.123,00 or 1,250,123.00 or 1250123, with Rp, a sign, brackets, CR or DB.
 * Sen must be zero.
 * @param decimalMark The mark before the sen, if the bank's layout is known.
 * @returns Null if the text is not an amount, is ambiguous (1.250.00, 12,34,567, 150K), or has
 *   contradictory directions (-5.000 CR).
 */
export function parseAmount(text: string, decimalMark: DecimalMark | null = null): BankAmount | null {
  // In 1.250.123,- the ending means zero sen.
  const cell = text
    .replace(/^['\s]+/, '')
    .trim()
    .replace(/,-$/, '');
  const [, open, sign, figure = '', space, closed, tail = ''] =
    /^(\()?\s*(?:Rp\.?|IDR)?\s*([+-])?\s*(?:Rp\.?|IDR)?\s*([\d.,]+)(\s*)(\))?\s*([-+]|[A-Za-z]+)?$/i.exec(
      cell,
    ) ?? [];
  const amount = parseFigure(figure, decimalMark);
  if (amount === null || (open === undefined) !== (closed === undefined)) {
    return null;
  }
  const word = /^[A-Za-z]/.test(tail) ? parseDirection(tail) : null;
  // 150K may mean 150 thousand.
  if (/^[A-Za-z]/.test(tail) && (word === null || (tail.length === 1 && space === ''))) {
    return null;
  }
  const minus = open !== undefined || sign === '-' || tail === '-';
  const plus = sign === '+' || tail === '+';
  const signed = minus ? 'out' : plus ? 'in' : null;
  return areContradictory(word, signed) ? null : { amount, direction: word ?? signed };
}

/**
 * True if the two directions differ. Banks write a reversal with a minus next to CR. A reversal
 * must not count as incoming.
 */
export function areContradictory(one: Direction | null, other: Direction | null): boolean {
  return one !== null && other !== null && one !== other;
}

function parseFigure(text: string, knownMark: DecimalMark | null): number | null {
  const [, whole = '', , sen = ''] = /^(.*?)(?:([.,])(\d{1,2}))?$/.exec(text) ?? [];
  const decimalMark = sen === '' ? '' : text.charAt(whole.length);
  const groupMark = /[.,]/.exec(whole)?.[0] ?? '';
  const isGrouped =
    groupMark === '' ||
    whole.split(groupMark).every((part, n) => (n === 0 ? /^[1-9]\d{0,2}$/ : /^\d{3}$/).test(part));
  if (!isGrouped || (groupMark === '' && !/^\d+$/.test(whole)) || (sen !== '' && groupMark === decimalMark)) {
    return null;
  }
  // With a known mark, 1.250 cannot be a thousand in one file and one and a quarter in another.
  if (knownMark !== null && (groupMark === knownMark || (sen !== '' && decimalMark !== knownMark))) {
    return null;
  }
  const amount = Number(whole.replaceAll(/[.,]/g, ''));
  return /^0*$/.test(sen) && Number.isSafeInteger(amount) ? amount : null;
}
