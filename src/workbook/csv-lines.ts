/**
 * Why a cell of a workbook does not say what a person takes it for: a formula whose result is not kept with it, a date where its
 * number would be an amount, what is not seen, what cannot be read. Such a cell is not empty.
 */
export const cellFaults = ['no-result', 'is-date', 'is-hidden', 'unreadable-cell'] as const;
export type CellFault = (typeof cellFaults)[number];

/** A row of a table in a file. */
export interface SheetLine {
  /** As the program that wrote the file counts them, from 1. */
  line: number;
  cells: string[];
  /** By the place of the cell; only where there is one. */
  faults?: ReadonlyMap<number, CellFault>;
}

/** The file is no table that can be read. */
export class UnreadableSheetError extends Error {}

/** What stands between the cells of a row. */
export type CellMark = ',' | ';' | '\t';

/** No table of people has as many; so a row is read in a bounded time. */
const cellsMax = 1_000;
/** As Excel's: what is longer is no cell, and reading it would hold up others. */
const cellLengthMax = 32_767;
/** Nor headings as long. */
const headLengthMax = 100_000;

/** Tells Excel what stands between the cells. It shows no such line, and counts from the next one. */
const markLine = /^\uFEFF?("?)sep=([,;\t])\1(?:\r\n?|\n)/i;

/**
 * RFC 4180, by what a line `sep=;` before all others says; else with commas, with semicolons where the first line has no comma
 * outside of quotes (so Excel writes where a comma is in numbers), or with tabs where it has neither (so it copies).
 * @throws UnreadableSheetError as `csvRows`.
 */
export function csvLines(text: string): Generator<SheetLine> {
  const [said, , mark] = markLine.exec(text) ?? [];
  return said === undefined
    ? csvRows(text, markOf(text))
    : csvRows(text.slice(said.length), mark as CellMark);
}

/** Looks at no more than the first line: one quote that is not closed would make a long file into one. */
function markOf(text: string): CellMark {
  let found: CellMark | undefined;
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

/** A row without anything in it, which no list means. */
export function isEmptyLine({ cells, faults }: SheetLine): boolean {
  return faults === undefined && cells.every((each) => each.trim() === '');
}

/**
 * The rows one after the other, empty ones too, for whoever reads a long file in slices.
 * @throws UnreadableSheetError for a quote that is not closed, or in the middle of a cell, and for a row or a cell without an end.
 */
export function* csvRows(text: string, mark: CellMark): Generator<SheetLine> {
  const plain = new RegExp(`[^"${mark}\\r\\n]{0,${cellLengthMax + 1}}`, 'y');
  let place = text.startsWith('\uFEFF') ? 1 : 0;
  let line = 1;
  while (place < text.length) {
    const cells: string[] = [];
    const began = line;
    for (let isRow = true; isRow;) {
      const cell = text[place] === '"' ? quotedAt(text, place) : plainAt(text, place, plain);
      if (cell && cell.next - place > cellLengthMax) {
        throw new UnreadableSheetError(
          `line ${line}: it has a cell of more than ${cellLengthMax} characters`,
        );
      }
      const end = cell ? endAt(text, cell.next, mark) : undefined;
      if (!cell || end === undefined || cells.length === cellsMax) {
        throw new UnreadableSheetError(
          cells.length === cellsMax
            ? `line ${line}: it has more than ${cellsMax} cells`
            : `line ${line}: a quote is not closed, or stands inside of a cell`,
        );
      }
      cells.push(cell.content);
      line += cell.breaks;
      place = cell.next + end.length;
      isRow = end === mark;
    }
    yield { line: began, cells };
    line += 1;
  }
}

interface Cell {
  content: string;
  /** Where it ends. */
  next: number;
  /** Line breaks inside of it. */
  breaks: number;
}

/** @returns null: it is not closed. Of one that is too long, its beginning. */
function quotedAt(text: string, place: number): Cell | null {
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

function plainAt(text: string, place: number, plain: RegExp): Cell {
  plain.lastIndex = place;
  const [content = ''] = plain.exec(text) ?? [];
  return { content, next: place + content.length, breaks: 0 };
}

/** What ends a cell there; undefined: nothing that may. */
function endAt(text: string, place: number, mark: CellMark): string | undefined {
  if (place >= text.length) {
    return '';
  }
  // A carriage return alone: Excel's oldest format for a Mac.
  return [mark, '\n', '\r\n', '\r'].find((end) => text.startsWith(end, place));
}
