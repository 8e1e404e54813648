import { limits } from '../../../config/limits.js';
import { addDays } from '../../shared/business-time.js';
import { ValidationError } from '../../shared/errors.js';
import { toPrintable } from '../../shared/printable.js';
import { asWritten } from '../../shared/say.js';
import type { Direction } from './bank-cells.js';
import { findCorrectionWord, isCorrectionText } from './correction-text.js';

/**
 * Reasons why a line is not accepted.
 * - bad-cells: it has more or fewer cells than headings.
 * - bad-quote: a quote is not closed, or stands inside of a quoted cell.
 * - not-idr: it is of another currency, or does not say its currency.
 * - reversal: the bank takes back an outgoing payment, so nobody paid it.
 * - bad-balance: the balances say that the money went in the opposite direction.
 * - maybe-text: it may be a note of a payer that the bank wrapped.
 */
export const bankLineRefusals = [
  'bad-date',
  'not-booked',
  'too-old',
  'bad-amount',
  'no-direction',
  'bad-cells',
  'bad-quote',
  'not-idr',
  'reversal',
  'bad-balance',
  'maybe-text',
] as const;
export type BankLineRefusal = (typeof bankLineRefusals)[number];

export interface RefusedLine {
  kind: 'refused';
  line: number;
  why: BankLineRefusal;
  /** Heading of the column that cannot be read. */
  column?: string;
}

export interface PaymentLine {
  kind: 'incoming' | 'outgoing';
  line: number;
  /** YYYY-MM-DD. Outgoing lines may have none. */
  day: string | null;
  /** Amount in rupiah. */
  amount: number;
  description: string;
  /** False if the description is cut. */
  isWhole: boolean;
  /** True if the format, or a word in any of its cells, says that the line takes back another one. */
  isReversal: boolean;
  /** Balance of the account with this line, in sen. Absent if the file has none. */
  balance?: number;
}

/** A line as it is read from a file. `other` has no amount: a balance, a total, an address. */
export type ReadLine = PaymentLine | RefusedLine | OtherLine;

export interface OtherLine {
  kind: 'other';
  line: number;
  text: string;
  /** True for headings that are repeated. The lines below may be of another account. */
  isHeading?: true;
}

const descriptionMax = 500;

interface Booking {
  line: number;
  day: string | null;
  amount: number;
  direction: Direction;
  text: string;
  /** Heading of the day, for messages. */
  dayColumn: string | undefined;
  isReversal?: boolean;
  /** The text of all cells, in which a bank may say that the line takes back another one. */
  marks?: string;
  balance?: number;
}

/** Builds a payment. Incoming payments need a day that is neither too old nor in the future. */
export function buildPayment(
  { line, day, amount, direction, text, dayColumn, isReversal = false, marks = text, balance }: Booking,
  today: string,
): ReadLine {
  if (direction === 'in' && (day === null || day > addDays(today, 1))) {
    return refuseLine(line, 'bad-date', dayColumn);
  }
  if (direction === 'in' && day !== null && day < addDays(today, -limits.bankLineAgeMaxDays)) {
    return refuseLine(line, 'too-old');
  }
  const description = collapseText(text);
  return {
    kind: direction === 'in' ? 'incoming' : 'outgoing',
    line,
    day,
    amount,
    description: description.slice(0, descriptionMax),
    isWhole: description.length <= descriptionMax,
    isReversal:
      isReversal || (direction === 'in' ? findCorrectionWord(marks) === 'sure' : isCorrectionText(marks)),
    ...(balance !== undefined && { balance }),
  };
}

export function refuseLine(line: number, why: BankLineRefusal, column?: string): RefusedLine {
  const name = toPrintable((column ?? '').slice(0, 50));
  return name === '' ? { kind: 'refused', line, why } : { kind: 'refused', line, why, column: name };
}

/** Builds a line without an amount. */
export function buildOther(line: number, cells: readonly string[]): OtherLine {
  const text = collapseText(cells.filter((each) => each.trim() !== '').join(' '));
  return { kind: 'other', line, text: toPrintable(text.slice(0, descriptionMax)) };
}

function collapseText(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
}

export function buildUnreadableError(why: string): ValidationError {
  return new ValidationError([
    { field: 'file', message: asWritten(`The bank statement cannot be read: ${why}.`) },
  ]);
}

/** Builds the error for a statement of another currency. */
export function buildForeignError(where: string, text: string): ValidationError {
  return buildUnreadableError(
    `${where} says ${toPrintable(text.slice(0, 50))}, which is not IDR. Only statements in rupiah are read`,
  );
}
