import { limits } from '../../../config/limits.js';
import { iterateInSlices } from '../../shared/collections.js';
import type { SheetLine } from '../../workbook/csv-lines.js';
import { findTitle, isBookedTitle, isHeldTitle } from './table-title.js';
import { parseBalance } from './check-balances.js';
import { alignCells, type RowShape } from './align-cells.js';
import { detectDayOrder, parseDay } from './bank-cells.js';
import { findColumns, findMissingColumns, type BankColumns } from './bank-columns.js';
import { findForeignAccount, findForeignLabel, isForeign, isForeignCodeOnly } from './bank-currency.js';
import {
  findHeading,
  refuseAmbiguousHeading,
  refuseOtherUnits,
  type StatementPeriod,
} from './find-heading.js';
import { readMoney } from './read-money.js';
import {
  buildForeignError,
  buildOther,
  buildPayment,
  buildUnreadableError,
  refuseLine,
  type ReadLine,
} from './statement-line.js';

/** Starts to read the rows of a file. A file is read twice: for its headings and for its lines. */
export type RowSource = () => Iterable<SheetLine>;

/** The orders of day and month found in all rows with an amount, incoming or outgoing. */
export type DayOrders = Set<ReturnType<typeof detectDayOrder>>;

interface Table {
  columns: BankColumns;
  shape: RowShape;
  period: StatementPeriod | null;
  today: string;
  orders: DayOrders;
  /** True below a title that says that the payments are not booked. */
  isHeld: boolean;
}

/**
 * Yields the lines of a statement that is a table.
 * @param sources The possible ways to split the file into cells. The first one with headings counts.
 * @throws ValidationError if no headings are found, or the statement is not in rupiah.
 */
export async function* readStatementTable(
  sources: readonly RowSource[],
  { today, orders }: { today: string; orders: DayOrders },
): AsyncGenerator<ReadLine> {
  const { source, columns, line: headingLine, period, title } = await findHeading(sources, today);
  const table: Table = {
    columns,
    shape: { length: null },
    period,
    today,
    orders,
    isHeld: isHeldTitle(title),
  };
  for await (const row of iterateInSlices(source())) {
    if (row.line - headingLine > limits.bankStatementLinesMax) {
      throw buildUnreadableError(
        `it has more than ${limits.bankStatementLinesMax} lines. Upload fewer days at a time`,
      );
    }
    const read = row.line > headingLine ? readRow(row, table) : null;
    if (read) {
      yield read;
    }
  }
}

/** Returns null for an empty row. */
function readRow(row: SheetLine, table: Table): ReadLine | null {
  if (row.hasBadQuote) {
    return refuseLine(row.line, 'bad-quote');
  }
  if (row.cells.every((each) => each.trim() === '')) {
    return null;
  }
  readTitle(row.cells, table);
  const date = (row.cells[table.columns.date] ?? '').trim();
  if (isLabel(date, table.today) || date === '') {
    const label = readLabelRow(row, table);
    if (label) {
      return label;
    }
  }
  const cells = alignCells(row.cells, table.columns, table.shape);
  if (cells) {
    return readLine({ line: row.line, cells: cells.map((each) => each.trim()) }, table);
  }
  const isText = isLabel(date, table.today) || !row.cells.some((each) => /\d/.test(each));
  return isText ? buildOther(row.line, row.cells) : refuseLine(row.line, 'bad-cells');
}

/** Follows the titles of tables. A text in a column of texts may be a payer's. */
function readTitle(cells: readonly string[], table: Table): void {
  const title = findTitle(cells);
  if (title && !table.columns.texts.includes(title.place)) {
    table.isHeld = isHeldTitle(title.text) || (table.isHeld && !isBookedTitle(title.text));
  }
}

/** True if the text of a date column is words: a total, a balance, or headings. */
function isLabel(date: string, today: string): boolean {
  return /^['"\s]*\p{L}/u.test(date) && !isPending(date) && parseDay(date, today) === null;
}

function isPending(date: string): boolean {
  return /^'?PEND/i.test(date);
}

/** Follows repeated headings, which may be in another order. Returns null for any other row. */
function readLabelRow({ line, cells }: SheetLine, table: Table): ReadLine | null {
  // Only the bank writes in the column of dates. An empty one may belong to a payer's long text.
  const isOfBank = (cells[table.columns.date] ?? '').trim() !== '';
  const foreign = isOfBank ? findForeignAccount(cells, []) : findForeignLabel(cells);
  if (foreign !== undefined) {
    throw buildForeignError(`line ${line}`, foreign);
  }
  const columns = findColumns(cells);
  if (columns.date >= 0) {
    refuseOtherUnits(line, cells);
  }
  if (findMissingColumns(columns).length > 0) {
    // Headings of another table, whose lines must not be read with the columns of this one.
    if (columns.date >= 0 && columns.texts.length > 0) {
      throw buildUnreadableError(`line ${line}: unknown headings. Export it again without them`);
    }
    return null;
  }
  refuseAmbiguousHeading(line, cells);
  table.columns = columns;
  table.shape.length = null;
  return { ...buildOther(line, cells), isHeading: true };
}

function readLine(row: SheetLine, table: Table): ReadLine {
  const { line, cells } = row;
  const { columns, today, period } = table;
  const cell = (place: number) => cells[place] ?? '';
  // A quote that is left in another column is half of the quotes of an amount that is split.
  if (cells.some((each, place) => each.includes('"') && !columns.texts.includes(place))) {
    return refuseLine(line, 'bad-quote');
  }
  const date = cell(columns.date);
  const money = readMoney(cell, columns);
  if (money === 'none' || (!isPending(date) && /^[^\d]+$/.test(date))) {
    return buildOther(line, cells);
  }
  refuseMonthFirst(line, date, table);
  const foreign =
    columns.currencies.find((place) => isForeign(cell(place), today)) ??
    cells.findIndex((each, place) => isForeignCodeOnly(each) && !columns.texts.includes(place));
  if (foreign >= 0) {
    return refuseLine(line, 'not-idr', columns.names[foreign]);
  }
  if ('why' in money) {
    return refuseLine(line, money.why, columns.names[money.place]);
  }
  const unsettled =
    columns.statuses.find((place) => !isFinal(cell(place))) ??
    findPlace(cells, (each, place) => isUnpaid(each) && !columns.texts.includes(place));
  if (money.direction === 'in' && (table.isHeld || isPending(date) || unsettled !== undefined)) {
    return refuseLine(line, 'not-booked', unsettled === undefined ? undefined : columns.names[unsettled]);
  }
  const rules = { isMonthFirst: columns.isMonthFirst === true, period };
  return buildPayment(
    {
      line,
      day: parseDay(date, today, rules),
      amount: money.amount,
      direction: money.direction,
      isReversal: money.isReversal === true,
      text: columns.texts.map(cell).join(' '),
      marks: cells.join(' '),
      dayColumn: columns.names[columns.date],
      ...(columns.balance >= 0 && { balance: parseBalance(cell(columns.balance)) }),
    },
    today,
  );
}

function refuseMonthFirst(line: number, date: string, { columns, orders }: Table): void {
  const order = columns.isMonthFirst === null ? detectDayOrder(date) : 'day-first';
  orders.add(order);
  if (order === 'month-first') {
    throw buildUnreadableError(
      `line ${line}: its dates have the month first. Export them with the day first (23/11/2026), or name the order in the heading: Date (mm/dd/yyyy)`,
    );
  }
}

function findPlace(
  cells: readonly string[],
  isWanted: (cell: string, place: number) => boolean,
): number | undefined {
  const place = cells.findIndex(isWanted);
  return place < 0 ? undefined : place;
}

/** True for a cell that is only the status of a payment that did not happen, whatever its heading. */
function isUnpaid(cell: string): boolean {
  return /^(?:gagal|failed|pending|reversed|batal|dibatalkan|ditolak|rejected|refunded|cancell?ed)$/i.test(
    cell,
  );
}

/** True if a status column says that the payment is final. */
function isFinal(status: string): boolean {
  return /^(?:success(?:ful)?|succeed(?:ed)?|approved|executed|authori[sz]ed|dibukukan|terposting|tuntas|sukses|berhasil|posted|booked|completed?|selesai|settled|ok|done|cr|db|c|d|k)$/i.test(
    status,
  );
}
