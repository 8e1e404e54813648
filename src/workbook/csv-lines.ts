/**
 * Why the stored value of a cell is not the one that a person sees. Such a cell is not empty.
 * - no-result: a formula without a stored result.
 * - is-date: a date, whose stored number could be taken for an amount.
 * - is-hidden: a cell in a hidden row or column.
 * - unreadable-cell: content that cannot be read.
 */
export const cellFaults = ['no-result', 'is-date', 'is-hidden', 'unreadable-cell'] as const;
export type CellFault = (typeof cellFaults)[number];

/** A row of a table in a file. */
export interface SheetLine {
  /** Line number, from 1, as counted by the program that wrote the file. */
  line: number;
  cells: string[];
  /** Faults by the index of the cell. Absent if there are none. */
  faults?: ReadonlyMap<number, CellFault>;
  /** True if its quotes cannot be read. It then has no cells. */
  hasBadQuote?: true;
}

/** The file is not a readable table. */
export class UnreadableSheetError extends Error {}

/** Separator of the cells of a row. */
export type Delimiter = ',' | ';' | '\t';

/** More cells than any real table has in a row. Limits the time to read a row. */
const cellsMax = 1_000;
/** Excel's limit. A longer cell is refused, because reading it would block other work. */
const cellLengthMax = 32_767;
/** Longer than any real row. Reading a longer one would block other work. */
const rowLengthMax = 1_000_000;
/** Maximum length of the first line in which the separator is searched. */
const headLengthMax = 100_000;

/**
 * Line that tells Excel the separator. Excel does not show this line, and counts from the next one.
 */
const separatorLinePattern = /^\uFEFF?("?)sep=([,;\t])\1(?:\r\n?|\n)/i;

/**
 * Reads CSV (RFC 4180). A first line `sep=;` sets the separator. Without that line, the separator
 * is a comma. It is a semicolon if the first line has no comma outside of quotes, and a tab if the
 * first line has neither.
 * Excel writes semicolons in countries with a decimal comma, and tabs to the clipboard.
 * @throws UnreadableSheetError under the conditions of `readCsvRows`.
 */
export function readCsvLines(text: string): Generator<SheetLine> {
  const [said, , mark] = separatorLinePattern.exec(text) ?? [];
  return said === undefined
    ? readCsvRows(text, detectDelimiter(text))
    : readCsvRows(text.slice(said.length), mark as Delimiter);
}

/** Checks only the first line. An unclosed quote would otherwise turn a long file into one line. */
function detectDelimiter(text: string): Delimiter {
  let found: Delimiter | undefined;
  for (let place = 0; place < Math.min(text.length, headLengthMax); place += 1) {
    const mark = text[place];
    if (mark === '"') {
      const end = text.indexOf('"', place + 1);
      place = end < 0 ? text.length : end;
    } else if (mark === ',') {
      return mark;
    } else if (mark === '\n' || mark === '\r') {
      break;
    } else if (mark === ';' || (mark === '\t' && found === undefined)) {
      found = mark;
    }
  }
  return found ?? ',';
}

/** True for a row without any content. */
export function isEmptyLine({ cells, faults }: SheetLine): boolean {
  return faults === undefined && cells.every((each) => each.trim() === '');
}

/**
 * Yields the rows one after the other, including empty ones, so that a long file can be read in
 * slices.
 * @param isTolerant If true, a row with bad quotes has `hasBadQuote`, and the next line is read on its
 * own. Quotes inside of a cell without quotes around it are part of its text.
 * @throws UnreadableSheetError if a row or cell is too long, or, unless `isTolerant`, if a quote is not
 * closed or is inside a cell.
 */
export function* readCsvRows(text: string, mark: Delimiter, isTolerant = false): Generator<SheetLine> {
  const excluded = isTolerant ? '' : '"';
  const plain = new RegExp(`[^${excluded}${mark}\\r\\n]{0,${cellLengthMax + 1}}`, 'y');
  let place = text.startsWith('\uFEFF') ? 1 : 0;
  let line = 1;
  while (place < text.length) {
    const row = readCsvRow(text, place, { line, mark, plain });
    if (row !== null && !(isTolerant && row.hasJoinedRows)) {
      yield { line, cells: row.cells };
      line += row.breaks + 1;
      place = row.next;
    } else if (isTolerant) {
      yield { line, cells: [], hasBadQuote: true };
      line += 1;
      place = findNextLine(text, place);
    } else {
      throw new UnreadableSheetError(`line ${line}: a quote is not closed, or is inside a cell`);
    }
  }
}

interface Row {
  cells: string[];
  next: number;
  breaks: number;
  /** True if a cell over several lines may hold the beginning of another row. */
  hasJoinedRows: boolean;
}

/** Returns null if the quotes of the row cannot be read. */
function readCsvRow(
  text: string,
  start: number,
  { line, mark, plain }: { line: number; mark: Delimiter; plain: RegExp },
): Row | null {
  const row: Row = { cells: [], next: start, breaks: 0, hasJoinedRows: false };
  for (let isRow = true; isRow;) {
    const place = row.next;
    const cell = text[place] === '"' ? readQuotedCell(text, place) : readPlainCell(text, place, plain);
    if (cell && cell.next - place > cellLengthMax) {
      throw new UnreadableSheetError(
        `line ${line + row.breaks}: it has a cell of more than ${cellLengthMax} characters`,
      );
    }
    if (row.cells.length === cellsMax) {
      throw new UnreadableSheetError(`line ${line + row.breaks}: it has more than ${cellsMax} cells`);
    }
    if (place - start > rowLengthMax) {
      throw new UnreadableSheetError(
        `line ${line + row.breaks}: it has more than ${rowLengthMax} characters`,
      );
    }
    const end = cell ? findCellEnd(text, cell.next, mark) : undefined;
    if (!cell || end === undefined) {
      return null;
    }
    row.hasJoinedRows ||= isJoined(cell.content, row.cells.length, mark);
    row.cells.push(cell.content);
    row.breaks += cell.breaks;
    row.next = cell.next + end.length;
    isRow = end === mark;
  }
  return row;
}

/**
 * True if a cell over several lines may hold the beginning of another row: its last line has as many
 * separators as there are cells before it. A quote that opens in one row and closes in the same column
 * of a later row joins the two to one row of the right length.
 */
function isJoined(content: string, cellsBefore: number, mark: Delimiter): boolean {
  if (!/[\r\n]/.test(content)) {
    return false;
  }
  const counts = content.split(/\r\n?|\n/).map((each) => each.split(mark).length - 1);
  return counts.at(-1) === cellsBefore && (cellsBefore > 0 || (counts[0] ?? 0) > 0);
}

function findNextLine(text: string, place: number): number {
  const found = /\r\n?|\n/g;
  found.lastIndex = place;
  return found.exec(text) ? found.lastIndex : text.length;
}

interface Cell {
  content: string;
  /** Index of the first character after the cell. */
  next: number;
  /** Number of line breaks inside the cell. */
  breaks: number;
}

/** Returns null if the quote is not closed. Reads only the beginning of a cell that is too long. */
function readQuotedCell(text: string, place: number): Cell | null {
  let end = text.indexOf('"', place + 1);
  while (end >= 0 && text[end + 1] === '"' && end - place <= cellLengthMax) {
    end = text.indexOf('"', end + 2);
  }
  if (end < 0) {
    return null;
  }
  const content = text.slice(place + 1, Math.min(end, place + cellLengthMax)).replaceAll('""', '"');
  return { content, next: end + 1, breaks: content.split('\n').length - 1 };
}

function readPlainCell(text: string, place: number, plain: RegExp): Cell {
  plain.lastIndex = place;
  const [content = ''] = plain.exec(text) ?? [];
  return { content, next: place + content.length, breaks: 0 };
}

/**
 * Returns the text that ends a cell at this position. Undefined if the cell does not end validly
 * there.
 */
function findCellEnd(text: string, place: number, mark: Delimiter): string | undefined {
  if (place >= text.length) {
    return '';
  }
  // Excel's oldest format for the Mac ends lines with only a carriage return.
  return [mark, '\n', '\r\n', '\r'].find((end) => text.startsWith(end, place));
}
