import { createHash } from 'node:crypto';
import { limits } from '../../../config/limits.js';
import { formatBusinessDay, addDays } from '../../shared/business-time.js';
import { now } from '../../shared/clock.js';
import {
  readCsvRows,
  UnreadableSheetError,
  type Delimiter,
  type SheetLine,
} from '../../workbook/csv-lines.js';
import { ValidationError } from '../../shared/errors.js';
import { iterateInSlices } from '../../shared/collections.js';
import { toPrintable } from '../../shared/printable.js';
import { asWritten } from '../../shared/say.js';
import { isZip } from '../../workbook/zip.js';
import {
  parseAmount,
  areContradictory,
  parseDay,
  detectDayOrder,
  parseDirection,
  type Direction,
} from './bank-cells.js';
import { findColumns, findMissingColumns, findDuplicateHeading, type BankColumns } from './bank-columns.js';

/** Reasons why a line with an amount is not accepted. */
export const bankLineRefusals = ['bad-date', 'not-booked', 'too-old', 'bad-amount', 'no-direction'] as const;
export type BankLineRefusal = (typeof bankLineRefusals)[number];

/** An incoming payment. */
export interface IncomingLine {
  /** Line number in the file. */
  line: number;
  /** Identifies this payment in every statement. */
  key: string;
  /** YYYY-MM-DD. */
  day: string;
  /** Amount in rupiah. */
  amount: number;
  /** The bank's text. If `isWhole` is false, the cut part may name another deposit. */
  description: string;
  isWhole: boolean;
}

export interface BankStatement {
  incoming: IncomingLine[];
  /** First and last day of the incoming lines, YYYY-MM-DD. Null if there are no incoming lines. */
  days: {
    first: string;
    last: string;
    /**
     * False if every date is ambiguous, such as 08/09/2026. Dates are then read day-first, and a
     * person must check them.
     */
    isOrderTold: boolean;
  } | null;
  /** Number of outgoing payments. */
  outgoing: number;
  /** Number of lines without date and amount, such as balances and totals. */
  others: number;
  refused: { line: number; why: BankLineRefusal }[];
}

/** Maximum number of rows before the headings. They hold the account's name, number and period. */
const preambleMax = 60;
const descriptionMax = 500;

/**
 * Reads a bank statement in CSV format (UTF-8), using its headings. It yields regularly, so that a
 * long file does not block the event loop. Lines with equal day, amount and text are separate
 * payments, numbered in order.
 * @throws ValidationError if the file is not a statement or exceeds `limits.bankStatement…Max`.
 */
export async function readBankStatement(bytes: Uint8Array): Promise<BankStatement> {
  const text = decodeText(bytes);
  const { columns, mark, line: headingLine } = await findHeading(text);
  const today = formatBusinessDay(now());
  const statement: BankStatement = { incoming: [], days: null, outgoing: 0, others: 0, refused: [] };
  const orders = new Set<ReturnType<typeof detectDayOrder>>();
  const seen = new Map<string, number>();
  try {
    for await (const row of iterateInSlices(readCsvRows(text, mark))) {
      if (row.line - headingLine > limits.bankStatementLinesMax) {
        throw buildUnreadableError(
          `it has more than ${limits.bankStatementLinesMax} lines. Upload fewer days at a time`,
        );
      }
      if (row.line > headingLine) {
        addRow(statement, readRow(row, { columns, today, orders }), seen);
      }
    }
  } catch (error) {
    throw error instanceof UnreadableSheetError ? buildUnreadableError(error.message) : error;
  }
  const days = getDayRange(statement.incoming);
  const isOrderTold = orders.has('day-first') || !orders.has('untold');
  return { ...statement, days: days && { ...days, isOrderTold } };
}

/** Returns the first and the last day of the lines, in one pass. */
export function getDayRange(
  lines: readonly Pick<IncomingLine, 'day'>[],
): { first: string; last: string } | null {
  let [first, last] = [lines[0]?.day, lines[0]?.day];
  if (first === undefined || last === undefined) {
    return null;
  }
  for (const { day } of lines) {
    first = day < first ? day : first;
    last = day > last ? day : last;
  }
  return { first, last };
}

interface RowContext {
  columns: BankColumns;
  today: string;
  /** The orders of day and month found in all rows with an amount, incoming or outgoing. */
  orders: Set<ReturnType<typeof detectDayOrder>>;
}

type ReadRow = Omit<IncomingLine, 'key'> | { line: number; why: BankLineRefusal } | 'outgoing' | 'other';

function addRow(statement: BankStatement, read: ReadRow, seen: Map<string, number>): void {
  if (read === 'outgoing') {
    statement.outgoing += 1;
  } else if (read === 'other') {
    statement.others += 1;
  } else if ('why' in read) {
    statement.refused.push(read);
  } else {
    // Two exports of one bank may differ in case and spaces.
    const same = JSON.stringify([read.day, read.amount, read.description.toUpperCase()]);
    const occurrence = (seen.get(same) ?? 0) + 1;
    seen.set(same, occurrence);
    const key = createHash('sha256').update(`${same}${occurrence}`).digest('hex');
    // Remove invisible characters from the stored text, because refusing the line would lose a
    // payment. The key still uses the original text.
    statement.incoming.push({ ...read, description: toPrintable(read.description), key });
  }
}

function readRow({ line, cells }: SheetLine, { columns, today, orders }: RowContext): ReadRow {
  const cell = (place: number) => (cells[place] ?? '').trim();
  const money = parseMoney(cell, columns);
  const isPending = /^'?PEND/i.test(cell(columns.date));
  // A row with words in the date column is a total or a balance.
  if (money === 'none' || (!isPending && /^[^\d]+$/.test(cell(columns.date)))) {
    return 'other';
  }
  const order = detectDayOrder(cell(columns.date));
  orders.add(order);
  if (order === 'month-first') {
    throw buildUnreadableError(
      `line ${line}: its dates have the month first. Export them with the day first (23/11/2026)`,
    );
  }
  if (typeof money === 'string') {
    return { line, why: money };
  }
  if (money.direction === 'out') {
    return 'outgoing';
  }
  if (isPending) {
    return { line, why: 'not-booked' };
  }
  const day = parseDay(cell(columns.date), today);
  if (day === null || day > addDays(today, 1)) {
    return { line, why: 'bad-date' };
  }
  if (day < addDays(today, -limits.bankLineAgeMaxDays)) {
    return { line, why: 'too-old' };
  }
  const text = columns.texts
    .map(cell)
    .join(' ')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  const isWhole = text.length <= descriptionMax;
  return { line, day, amount: money.amount, description: text.slice(0, descriptionMax), isWhole };
}

type Cell = (place: number) => string;

function parseMoney(
  cell: Cell,
  columns: BankColumns,
): { amount: number; direction: Direction } | 'bad-amount' | 'no-direction' | 'none' {
  if (columns.credit >= 0) {
    const [came, went] = [cell(columns.credit), cell(columns.debit)].map((each) =>
      /^-?$/.test(each) ? { amount: 0, direction: null } : parseAmount(each),
    );
    if (!came || !went || (came.amount > 0 && went.amount > 0)) {
      return 'bad-amount';
    }
    // A negative credit is a payment that the bank reversed, so it is not incoming.
    const isIn = came.amount > 0 && came.direction !== 'out';
    return came.amount + went.amount === 0
      ? 'none'
      : { amount: came.amount + went.amount, direction: isIn ? 'in' : 'out' };
  }
  if (/^-?$/.test(cell(columns.amount))) {
    return 'none';
  }
  const read = parseAmount(cell(columns.amount));
  if (!read) {
    return 'bad-amount';
  }
  const statedDirection = columns.kind < 0 ? null : parseDirection(cell(columns.kind));
  const direction = areContradictory(statedDirection, read.direction)
    ? null
    : (statedDirection ?? read.direction);
  if (read.amount === 0) {
    return 'none';
  }
  return direction === null ? 'no-direction' : { amount: read.amount, direction };
}

interface Heading {
  mark: Delimiter;
  columns: BankColumns;
  line: number;
}

/** Finds the first row with all required headings, whichever separator the file uses. */
async function findHeading(text: string): Promise<Heading> {
  let missing: string[] = findMissingColumns(findColumns([]));
  for (const mark of [',', ';', '\t'] as const) {
    try {
      for await (const { line, cells } of iterateInSlices(readCsvRows(text, mark))) {
        const columns = findColumns(cells);
        const lacks = findMissingColumns(columns);
        if (lacks.length === 0) {
          const twice = findDuplicateHeading(cells);
          if (twice !== undefined) {
            throw buildUnreadableError(
              `line ${line} names the column ${twice} twice, which is ambiguous. Remove one of them`,
            );
          }
          return { mark, columns, line };
        }
        missing = lacks.length < missing.length ? lacks : missing;
        if (line >= preambleMax) {
          break;
        }
      }
    } catch (error) {
      if (!(error instanceof UnreadableSheetError)) {
        throw error;
      }
      // Try the next separator.
    }
  }
  throw buildUnreadableError(
    `its first ${preambleMax} lines have no heading for ${missing.join(', nor ')}. Export it again with its headings`,
  );
}

function decodeText(bytes: Uint8Array): string {
  if (bytes.length > limits.bankStatementBytesMax) {
    throw buildUnreadableError(
      `it has ${bytes.length} bytes, and the limit is ${limits.bankStatementBytesMax}`,
    );
  }
  if (isZip(bytes)) {
    throw buildUnreadableError('it is a workbook. Save it as CSV, or let the bank export CSV');
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw buildUnreadableError('it is not CSV in UTF-8. Save it as CSV UTF-8');
  }
}

export function buildUnreadableError(why: string): ValidationError {
  return new ValidationError([
    { field: 'file', message: asWritten(`The bank statement cannot be read: ${why}.`) },
  ]);
}
