import type { CellFault, SheetLine } from '../../workbook/csv-lines.js';
import { ValidationError } from '../../shared/errors.js';
import type { MergedRange } from '../../workbook/rows.js';
import { asWritten } from '../../shared/say.js';

export const columnNames = ['code', 'seller', 'price', 'cost', 'status'] as const;
/** Index of each column. -1 if the column is missing. */
type Columns = Record<(typeof columnNames)[number], number>;

interface Headings {
  names: readonly string[];
  columns: Columns;
  /** Index of the first known column. */
  first: number;
}

/**
 * Reads the column names from the first line of a price list.
 * @throws ValidationError if the line is not a valid heading.
 */
export function readHeadings(head: SheetLine | undefined, merged: readonly MergedRange[]): Headings {
  const names = head?.cells.map((each) => each.trim().toLowerCase()) ?? [];
  refuseFaultyHead(head, names);
  const columns = findColumns(names);
  refuseMerged(merged, head?.line ?? 1, columns);
  const first = Math.min(...Object.values(columns).filter((place) => place >= 0));
  return { names, columns, first };
}

function findColumns(names: readonly string[]): Columns {
  const twice = columnNames.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice) {
    throw buildUnreadableError(`the first line names the column ${twice} twice`);
  }
  const columns = Object.fromEntries(columnNames.map((name) => [name, names.indexOf(name)])) as Columns;
  if (columns.code < 0 || columns.seller < 0 || Math.max(columns.price, columns.cost, columns.status) < 0) {
    throw buildUnreadableError(
      'the first line must name the columns code, seller, and price, cost or status',
    );
  }
  return columns;
}

/**
 * Refuses merged cells in the columns that are read. A spreadsheet shows the value of the first
 * merged cell in all merged cells, but in the file the others are empty.
 */
function refuseMerged(merged: readonly MergedRange[], headLine: number, columns: Columns): void {
  const found = merged.find(
    (range) =>
      range.lines.last >= headLine &&
      Object.values(columns).some((each) => range.columns.first <= each && each <= range.columns.last),
  );
  if (found) {
    throw buildUnreadableError(
      `the cells ${found.name} are merged. Only the first of them has a value in the file. Unmerge them, and fill each cell`,
    );
  }
}

/**
 * True if a line has more cells than headings, or a value below an empty heading. A separator
 * inside a value (10,500) has then split the value, and later values are in the wrong columns.
 * Cells before the first known column are ignored, because they may hold line numbers.
 */
export function isMisaligned({ cells, faults }: SheetLine, { names, first }: Headings): boolean {
  return (
    cells.length > names.length ||
    cells.some(
      (each, place) => place > first && names[place] === '' && (each.trim() !== '' || faults?.has(place)),
    )
  );
}

const faultMessages: Record<CellFault, string> = {
  'no-result': 'holds a formula without its result. Save it again with a spreadsheet program, or as values',
  'is-date': 'holds a date',
  'is-hidden': 'is hidden. Show it, or leave it out',
  'unreadable-cell':
    'cannot be read, or is shown as another number than it holds. Give it a plain number format, or write it again',
};

/** Refuses an unreadable column name, which would otherwise be ignored silently. */
function refuseFaultyHead(head: SheetLine | undefined, names: readonly string[]): void {
  for (const [place, fault] of head?.faults ?? []) {
    const isOurs = columnNames.some((name) => name === names[place]);
    if (isOurs || fault === 'no-result' || fault === 'unreadable-cell') {
      throw buildUnreadableError(
        `line ${head?.line ?? 1}: its cell ${getCellName(place, head?.line)} ${faultMessages[fault]}`,
      );
    }
  }
}

/** Returns a cell name such as C12. Works for the first 50 columns. */
function getCellName(place: number, line = 1): string {
  const letter = (at: number) => String.fromCharCode(65 + at);
  return `${place < 26 ? '' : letter(Math.floor(place / 26) - 1)}${letter(place % 26)}${line}`;
}

export function buildUnreadableError(why: string): ValidationError {
  return new ValidationError([
    { field: 'file', message: asWritten(`The price list cannot be read: ${why}.`) },
  ]);
}
