import { UnreadableSheetError, type CellFault, type SheetLine } from './csv-lines.js';
import { shorten, getAttribute, isTrueAttribute, createXmlError, readTags, type Tag } from './xml.js';
import { readContent, type WorkbookContext, type Cell } from './cells.js';

/** Merged cells. Only the first cell of the range has a value in the file. */
export interface MergedRange {
  /** Name of the range, such as `C2:C3`. */
  name: string;
  lines: { first: number; last: number };
  /** Index of the first and last column, from 0. */
  columns: { first: number; last: number };
}

/**
 * Parses a merged range. Returns null for a single cell.
 * @throws UnreadableSheetError if the range is malformed.
 */
export function parseMergedRange(name: string): MergedRange | null {
  const [first, last, ...more] = name.split(':').map(parseCellName);
  if (!first || last === null || more.length > 0) {
    throw new UnreadableSheetError(
      `its first sheet has a merged range with the invalid name ${shorten(name)}`,
    );
  }
  return last === undefined
    ? null
    : {
        name,
        lines: { first: Math.min(first.line, last.line), last: Math.max(first.line, last.line) },
        columns: { first: Math.min(first.column, last.column), last: Math.max(first.column, last.column) },
      };
}

/**
 * Parses the name of a cell. `C12` is line 12 and column 2, because columns are counted from 0.
 * Returns null for other text.
 */
export function parseCellName(name: string): { line: number; column: number } | null {
  const [, letters, line] = /^([A-Z]{1,3})(\d{1,8})$/.exec(name) ?? [];
  if (letters === undefined) {
    return null;
  }
  let column = 0;
  for (const letter of letters) {
    column = column * 26 + letter.charCodeAt(0) - 64;
  }
  return { line: Number(line), column: column - 1 };
}

export const columnsMax = 50;
/** Limits the time to read a row, as for CSV. */
const cellsMax = 1_000;
/** Maximum number of merged ranges. It allows one for each line of the longest list. */
const mergedMax = 10_000;

interface Row {
  line: number;
  isHidden: boolean;
  cells: string[];
  faults: Map<number, CellFault>;
  /** Column of the previous cell. */
  column: number;
  seen: number;
}

interface Reading {
  /** Whether reading is before, within or after the table. */
  table: 'before' | 'within' | 'after';
  /** Line of the previous row. */
  line: number;
  /** Default for rows that do not specify whether they are hidden. */
  areRowsHidden: boolean;
  hiddenColumns: { first: number; last: number }[];
  merged: MergedRange[];
  row: Row | null;
  cell: Cell | null;
}

/**
 * Yields the rows of a sheet that have content.
 * @param merged Receives the ranges of merged cells, which the file lists after all rows.
 * @throws UnreadableSheetError if the sheet cannot be read.
 */
export async function* readSheetLines(
  xml: string,
  book: WorkbookContext,
  merged: MergedRange[],
): AsyncGenerator<SheetLine> {
  const reading: Reading = {
    table: 'before',
    line: 0,
    areRowsHidden: false,
    hiddenColumns: [],
    merged,
    row: null,
    cell: null,
  };
  for await (const some of readTags(xml)) {
    for (const tag of some) {
      if (tag.name === 'row' && tag.parent === 'sheetData' && reading.table === 'within') {
        if (!tag.isEnd) {
          reading.row = beginRow(tag.of, reading);
          reading.line = reading.row.line;
        }
        if (tag.isEnd || tag.isEmpty) {
          yield* buildLine(reading.row);
          reading.row = null;
        }
      } else if (reading.row) {
        readWithin(reading.row, tag, reading, book);
      } else {
        readAround(tag, reading);
      }
    }
  }
}

function readAround({ name, parent, isEnd, isEmpty, of }: Tag, reading: Reading): void {
  if (name === 'sheetData' && (parent === 'worksheet' || parent === '')) {
    if (!isEnd && reading.table !== 'before') {
      throw new UnreadableSheetError('its first sheet has two tables');
    }
    reading.table = isEnd || isEmpty ? 'after' : 'within';
  } else if (name === 'col' && !isEnd && (isTrueAttribute(of, 'hidden') || isZeroAttribute(of, 'width'))) {
    reading.hiddenColumns.push({
      first: Number(getAttribute(of, 'min')) - 1,
      last: Number(getAttribute(of, 'max')) - 1,
    });
    if (reading.hiddenColumns.length > cellsMax) {
      throw new UnreadableSheetError(`its first sheet has more than ${cellsMax} hidden columns`);
    }
  } else if (name === 'sheetFormatPr') {
    reading.areRowsHidden ||= isTrueAttribute(of, 'zeroHeight') || isZeroAttribute(of, 'defaultRowHeight');
  } else if (name === 'mergeCell' && !isEnd) {
    const range = parseMergedRange(getAttribute(of, 'ref') ?? '');
    reading.merged.push(...(range ? [range] : []));
    if (reading.merged.length > mergedMax) {
      throw new UnreadableSheetError(`its first sheet has more than ${mergedMax} merged ranges`);
    }
  }
}

function beginRow(of: string, { line: before, areRowsHidden }: Reading): Row {
  const rowNumber = Number(getAttribute(of, 'r'));
  const line = Number.isSafeInteger(rowNumber) && rowNumber > 0 ? rowNumber : before + 1;
  if (line <= before) {
    throw new UnreadableSheetError(`line ${line} occurs twice or out of order`);
  }
  const saysNothing = getAttribute(of, 'hidden') === undefined && getAttribute(of, 'ht') === undefined;
  const isHidden =
    isTrueAttribute(of, 'hidden') || isZeroAttribute(of, 'ht') || (areRowsHidden && saysNothing);
  return { line, isHidden, cells: [], faults: new Map(), column: -1, seen: 0 };
}

/** True if the height or width is 0, which hides the row or column. */
function isZeroAttribute(of: string, name: string): boolean {
  return Number(getAttribute(of, name) ?? '1') === 0;
}

function* buildLine(row: Row | null): Generator<SheetLine> {
  if (row && (row.faults.size > 0 || row.cells.some((each) => each.trim() !== ''))) {
    const all = Array.from({ length: row.cells.length }, (_, n) => row.cells[n] ?? '');
    // The line ends with the last cell that has content. Later cells may have only a style.
    const last = Math.max(
      all.findLastIndex((each) => each.trim() !== ''),
      ...row.faults.keys(),
    );
    const cells = all.slice(0, last + 1);
    yield { line: row.line, cells, ...(row.faults.size > 0 && { faults: row.faults }) };
  }
}

function readWithin(row: Row, tag: Tag, reading: Reading, book: WorkbookContext): void {
  const { name, parent, isEnd, isEmpty, text } = tag;
  if (parent === 'v' || parent === 't' || parent === 'f') {
    throw createXmlError();
  }
  if (name === 'c' && parent === 'row') {
    if (!isEnd) {
      reading.cell = beginCell(row, tag);
    }
    if (isEnd || isEmpty) {
      endCell(row, reading, book);
    }
    return;
  }
  const { cell } = reading;
  if (!cell || isEnd) {
    return;
  }
  if (name === 'f' && parent === 'c') {
    cell.isFormula = true;
  } else if (name === 'v' && parent === 'c') {
    if (cell.value !== null) {
      throw new UnreadableSheetError(`line ${row.line}: its cell ${cell.name} has two values`);
    }
    cell.value = text;
  } else if (name === 't' && (parent === 'is' || parent === 'r')) {
    cell.inline = (cell.inline ?? '') + text;
  }
}

function beginCell(row: Row, { of }: Tag): Cell {
  const name = getAttribute(of, 'r');
  const column = name === undefined ? row.column + 1 : parseColumn(name, row.line);
  row.seen += 1;
  if (row.seen > cellsMax) {
    throw new UnreadableSheetError(`line ${row.line}: it has more than ${cellsMax} cells`);
  }
  if (column <= row.column) {
    throw new UnreadableSheetError(`line ${row.line}: its cell ${name ?? ''} occurs twice or out of order`);
  }
  row.column = column;
  return {
    name: name ?? `${column + 1}`,
    type: getAttribute(of, 't') ?? 'n',
    style: Number(getAttribute(of, 's')) || 0,
    isFormula: false,
    value: null,
    inline: null,
  };
}

function endCell(row: Row, reading: Reading, book: WorkbookContext): void {
  const { cell, hiddenColumns } = reading;
  const { column } = row;
  reading.cell = null;
  if (!cell || column >= columnsMax) {
    return;
  }
  const { text, fault } = readContent(cell, book);
  row.cells[column] = text;
  if (fault) {
    row.faults.set(column, fault);
  } else if (
    text.trim() !== '' &&
    (row.isHidden || hiddenColumns.some(({ first, last }) => first <= column && column <= last))
  ) {
    row.faults.set(column, 'is-hidden');
  }
}

/** Returns the column, counted from 0. For `C12` it is 2. */
function parseColumn(name: string, line: number): number {
  const place = parseCellName(name);
  if (place?.line !== line) {
    throw new UnreadableSheetError(`line ${line}: it has a cell with the invalid name ${shorten(name)}`);
  }
  return place.column;
}
