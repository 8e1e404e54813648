/** Month names in bank statements. */
import { addDays } from '../../shared/business-time.js';

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
 * Parses a day: 2026-11-23, 23/11/2026, 23-11-26, 23 Nov 2026 or 20261123, optionally followed by a
 * time. Without a year, 23/11 is the latest such day up to tomorrow.
 * @param today YYYY-MM-DD.
 * @returns YYYY-MM-DD, or null if the text is not a day.
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

function expandYear(year: string): string {
  return year.length === 2 ? `20${year}` : year;
}

function findLastDay(month: string | undefined, day: string | undefined, today: string): string | null {
  const year = Number(today.slice(0, 4));
  const found = [year + 1, year, year - 1].map((each) => buildValidDay(String(each), month, day));
  return found.find((each) => each !== null && each <= addDays(today, 1)) ?? null;
}

function buildValidDay(year = '', month = '', day = ''): string | null {
  const name = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const at = new Date(`${name}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(name) ? name : null;
}

export type Direction = 'in' | 'out';

/** Parses a bank's word for incoming or outgoing money. Returns null for any other word. */
export function parseDirection(text: string): Direction | null {
  const word = text.toUpperCase().replaceAll(/[^A-Z]/g, '');
  if (['CR', 'C', 'K', 'KR', 'KREDIT', 'CREDIT', 'KREDET'].includes(word)) {
    return 'in';
  }
  return ['DB', 'DR', 'D', 'DEBIT', 'DEBET', 'DEBT'].includes(word) ? 'out' : null;
}

export interface BankAmount {
  /** Amount in rupiah, without the sign. */
  amount: number;
  /** The direction given by the sign or the word next to the figure. Null if there is neither. */
  direction: Direction | null;
}

/**
 * Parses an amount: 1.250.123,00 or 1,250,123.00 or 1250123, with Rp, a sign, brackets, CR or DB.
 * Sen must be zero.
 * @returns Null if the text is not an amount, is ambiguous (1.250.00, 12,34,567, 150K), or has
 *   contradictory directions (-5.000 CR).
 */
export function parseAmount(text: string): BankAmount | null {
  // In 1.250.123,- the ending means zero sen.
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
