/** What banks write into the cells of their statements. */
import { daysAfter } from '../../shared/business-time.js';

const months: readonly (readonly string[])[] = [
  ['jan', 'januari', 'january'],
  ['feb', 'peb', 'februari', 'february'],
  ['mar', 'maret', 'march'],
  ['apr', 'april'],
  ['mei', 'may'],
  ['jun', 'juni', 'june'],
  ['jul', 'juli', 'july'],
  ['agu', 'agt', 'ags', 'aug', 'agustus', 'august'],
  ['sep', 'sept', 'september'],
  ['okt', 'oct', 'oktober', 'october'],
  ['nov', 'november', 'nopember'],
  ['des', 'dec', 'desember', 'december'],
];

/**
 * The day of a cell as YYYY-MM-DD: 2026-11-23, 23/11/2026, 23-11-26, 23 Nov 2026, 20261123, with a time behind it or not, and 23/11, which is the
 * last such day up to tomorrow.
 * @param today YYYY-MM-DD. @returns null for what is no day.
 */
export function parseDay(text: string, today: string): string | null {
  const cell = text.replace(/^['\s]+/, '').trim();
  const isoLike = /^(\d{4})([-/.]?)(\d{2})\2(\d{2})(?!\d)/.exec(cell);
  if (isoLike) {
    return buildValidDay(isoLike[1], isoLike[3], isoLike[4]);
  }
  const numbers = /^(\d{1,2})[-/.](\d{1,2})(?:[-/.](\d{4}|\d{2}))?(?![\d/.-])/.exec(cell);
  if (numbers) {
    const [, day, month, year] = numbers;
    return year === undefined ? findLastDay(month, day, today) : buildValidDay(expandYear(year), month, day);
  }
  const named = /^(\d{1,2})[-/\s]([a-z]+)[-/\s.,]*(\d{4}|\d{2})(?!\d)/i.exec(cell);
  const month = months.findIndex((names) => names.includes(named?.[2]?.toLowerCase() ?? '')) + 1;
  return named && month > 0 ? buildValidDay(expandYear(named[3] ?? ''), String(month), named[1]) : null;
}

/**
 * What a cell says of the order of day and month in its file: 23/11/2026, 11/23/2026 (then 11/09/2026 in the same file is no day of
 * September), or 11/09/2026, which says nothing. Null: its day is the same either way.
 */
export function detectDayOrder(text: string): 'day-first' | 'month-first' | 'untold' | null {
  const [, first = '', second = ''] =
    /^['\s]*(\d{1,2})[-/.](\d{1,2})(?:[-/.](?:\d{4}|\d{2}))?(?![\d/.-])/.exec(text) ?? [];
  const [one, other] = [Number(first), Number(second)];
  if (one === other) {
    return null;
  }
  // 31/15 is no day at all.
  if (one > 12) {
    return other > 12 ? null : 'day-first';
  }
  return other > 31 ? null : other > 12 ? 'month-first' : 'untold';
}

function expandYear(year: string): string {
  return year.length === 2 ? `20${year}` : year;
}

function findLastDay(month: string | undefined, day: string | undefined, today: string): string | null {
  const year = Number(today.slice(0, 4));
  const found = [year + 1, year, year - 1].map((each) => buildValidDay(String(each), month, day));
  return found.find((each) => each !== null && each <= daysAfter(today, 1)) ?? null;
}

function buildValidDay(year = '', month = '', day = ''): string | null {
  const name = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const at = new Date(`${name}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(name) ? name : null;
}

export type Direction = 'in' | 'out';

/** The word that a bank puts behind an amount or beside it, for money that comes in or goes out; null: no such word. */
export function parseDirection(text: string): Direction | null {
  const word = text.toUpperCase().replaceAll(/[^A-Z]/g, '');
  if (['CR', 'C', 'K', 'KR', 'KREDIT', 'CREDIT', 'KREDET'].includes(word)) {
    return 'in';
  }
  return ['DB', 'DR', 'D', 'DEBIT', 'DEBET', 'DEBT'].includes(word) ? 'out' : null;
}

export interface BankAmount {
  /** Rupiah, without its sign. */
  amount: number;
  /** What sign or word beside the figure says. */
  direction: Direction | null;
}

/**
 * An amount as banks write it: 1.250.123,00 or 1,250,123.00 or 1250123, with Rp, a sign, brackets, CR or DB. Sen must be none.
 * @returns null for what is none, could be two (1.250.00 and 12,34,567, 150K), or came and went at once (-5.000 CR).
 */
export function parseAmount(text: string): BankAmount | null {
  // 1.250.123,- has no sen.
  const cell = text
    .replace(/^['\s]+/, '')
    .trim()
    .replace(/,-$/, '');
  const [, open, sign, figure = '', space, closed, tail = ''] =
    /^(\()?\s*(?:Rp\.?|IDR)?\s*([+-])?\s*(?:Rp\.?|IDR)?\s*([\d.,]+)(\s*)(\))?\s*([-+]|[A-Za-z]+)?$/i.exec(
      cell,
    ) ?? [];
  const amount = parseFigure(figure);
  if (amount === null || (open === undefined) !== (closed === undefined)) {
    return null;
  }
  const word = /^[A-Za-z]/.test(tail) ? parseDirection(tail) : null;
  // 150K is a thousand times as much to who writes it so.
  if (/^[A-Za-z]/.test(tail) && (word === null || (tail.length === 1 && space === ''))) {
    return null;
  }
  const minus = open !== undefined || sign === '-' || tail === '-';
  const plus = sign === '+' || tail === '+';
  const signed = minus ? 'out' : plus ? 'in' : null;
  return areContradictory(word, signed) ? null : { amount, direction: word ?? signed };
}

/** What was taken back is written with a minus, and CR beside it: nobody may take it for money that came. */
export function areContradictory(one: Direction | null, other: Direction | null): boolean {
  return one !== null && other !== null && one !== other;
}

function parseFigure(text: string): number | null {
  const [, whole = '', , sen = ''] = /^(.*?)(?:([.,])(\d{1,2}))?$/.exec(text) ?? [];
  const decimalMark = sen === '' ? '' : text.charAt(whole.length);
  const groupMark = /[.,]/.exec(whole)?.[0] ?? '';
  const isGrouped =
    groupMark === '' ||
    whole.split(groupMark).every((part, n) => (n === 0 ? /^[1-9]\d{0,2}$/ : /^\d{3}$/).test(part));
  if (!isGrouped || (groupMark === '' && !/^\d+$/.test(whole)) || (sen !== '' && groupMark === decimalMark)) {
    return null;
  }
  const amount = Number(whole.replaceAll(/[.,]/g, ''));
  return /^0*$/.test(sen) && Number.isSafeInteger(amount) ? amount : null;
}
