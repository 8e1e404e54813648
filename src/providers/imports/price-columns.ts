import type { CellFault, SheetLine } from '../../workbook/csv-lines.js';
import { ValidationError } from '../../shared/errors.js';
import type { MergedRange } from '../../workbook/rows.js';
import { asWritten } from '../../shared/say.js';

export const columnNames = ['code', 'seller', 'price', 'cost', 'status'] as const;
/** The place of each; -1 without it. */
type Columns = Record<(typeof columnNames)[number], number>;

interface Headings {
  names: readonly string[];
  columns: Columns;
  /** The place of the first of ours. */
  first: number;
}

/** What the first line of a price list names. @throws ValidationError */
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

/** Whoever wrote it sees the value of the first cell in all of them; in the file the others are empty. */
function refuseMerged(merged: readonly MergedRange[], headLine: number, columns: Columns): void {
  const found = merged.find(
    (range) =>
      range.lines.last >= headLine &&
      Object.values(columns).some((each) => range.columns.first <= each && each <= range.columns.last),
  );
  if (found) {
    throw buildUnreadableError(
      `the cells ${found.name} are merged. Only the first of them has a value in the file. Unmerge them, and fill each`,
    );
  }
}

/**
 * Whether a line is longer than the headings, or has something where none has a name: then a separator within one of its values
 * has parted it (10,500), and each value after that stands under a wrong heading. What is before the first heading of ours is
 * a number of the line.
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

/** A column whose name is not read would be left out without a word. */
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

/** Of the first 50 columns: C12. */
function getCellName(place: number, line = 1): string {
  const letter = (at: number) => String.fromCharCode(65 + at);
  return `${place < 26 ? '' : letter(Math.floor(place / 26) - 1)}${letter(place % 26)}${line}`;
}

export function buildUnreadableError(why: string): ValidationError {
  return new ValidationError([
    { field: 'file', message: asWritten(`The price list cannot be read: ${why}.`) },
  ]);
}
