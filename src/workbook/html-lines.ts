import { UnreadableSheetError, type SheetLine } from './csv-lines.js';
import { decodeEntity } from './xml.js';

/** Excel's limits, as for CSV. */
const cellLengthMax = 32_767;
const cellsMax = 1_000;

const tagPattern =
  /<(\/?)([a-z][a-z0-9:]{0,30})((?:\s{1,50}[\w:.-]{1,100}(?:\s{0,10}=\s{0,10}(?:"[^"]{0,2000}"|'[^']{0,2000}'|[^\s>"']{1,2000}))?){0,50})\s{0,50}\/?>/iy;
const hiddenPattern = /display\s{0,10}:\s{0,10}none|visibility\s{0,10}:\s{0,10}hidden/i;

interface Reading {
  line: number;
  /** Cells of the open row. Null outside of rows. */
  cells: string[] | null;
  /** Text of the open cell. Null outside of cells. */
  text: string | null;
  /** Number of columns that the open cell covers. */
  columns: number;
}

/**
 * Yields the rows of the tables in an HTML file, which banks export under the name `.xls`. Rows are
 * counted from 1. A cell over several columns is followed by empty cells.
 * @throws UnreadableSheetError if cells are hidden or cover several rows, if tables are nested, or if a
 * cell or row is too long.
 */
export function* readHtmlLines(html: string): Generator<SheetLine> {
  const reading: Reading = { line: 0, cells: null, text: null, columns: 1 };
  let place = 0;
  while (place < html.length) {
    const next = html.indexOf('<', place);
    addText(reading, html.slice(place, next < 0 ? html.length : next));
    if (next < 0) {
      break;
    }
    tagPattern.lastIndex = next;
    const tag = tagPattern.exec(html);
    if (tag) {
      const [whole, slash, name = '', attributes = ''] = tag;
      place = next + whole.length;
      if (/^(?:script|style|title)$/i.test(name) && slash === '') {
        place = findAfter(html, `</${name}`, place);
      } else {
        yield* readTag(reading, { name: name.toLowerCase(), isEnd: slash === '/', attributes });
      }
    } else if (html.startsWith('<!--', next)) {
      place = findAfter(html, '-->', next);
    } else if (html[next + 1] === '!' || html[next + 1] === '?') {
      place = findAfter(html, '>', next);
    } else {
      addText(reading, '<');
      place = next + 1;
    }
  }
  yield* endRow(reading);
}

function addText(reading: Reading, text: string): void {
  if (reading.text !== null) {
    reading.text += text;
    if (reading.text.length > cellLengthMax) {
      throw new UnreadableSheetError(
        `line ${reading.line}: it has a cell of more than ${cellLengthMax} characters`,
      );
    }
  }
}

function findAfter(html: string, end: string, from: number): number {
  const found = html.indexOf(end, from);
  if (found < 0) {
    throw new UnreadableSheetError(`its HTML has no ${end}`);
  }
  return found + end.length;
}

interface HtmlTag {
  name: string;
  isEnd: boolean;
  attributes: string;
}

function* readTag(reading: Reading, tag: HtmlTag): Generator<SheetLine> {
  const { name, isEnd, attributes } = tag;
  if (name === 'table' && !isEnd && reading.text !== null) {
    throw new UnreadableSheetError('it has tables within tables. Let the bank export CSV');
  }
  if (reading.cells !== null && hiddenPattern.test(attributes)) {
    throw new UnreadableSheetError(`line ${reading.line}: it has hidden cells`);
  }
  if (name === 'tr' || name === 'table') {
    yield* endRow(reading);
    if (name === 'tr' && !isEnd) {
      reading.line += 1;
      reading.cells = [];
      refuseHidden(reading.line, attributes);
    }
  } else if (name === 'td' || name === 'th') {
    endCell(reading);
    if (!isEnd && reading.cells !== null) {
      reading.text = '';
      reading.columns = readSpan(reading.line, attributes);
    }
  } else {
    addText(reading, ' ');
  }
}

function refuseHidden(line: number, attributes: string): void {
  if (hiddenPattern.test(attributes)) {
    throw new UnreadableSheetError(`line ${line}: it is hidden`);
  }
}

function readSpan(line: number, attributes: string): number {
  const span = (of: string) =>
    Number(new RegExp(`\\b${of}\\s*=\\s*["']?(\\d{1,4})`, 'i').exec(attributes)?.[1] ?? 1);
  if (span('rowspan') > 1) {
    throw new UnreadableSheetError(`line ${line}: it has a cell over several rows`);
  }
  return Math.max(1, span('colspan'));
}

function endCell(reading: Reading): void {
  if (reading.text === null || reading.cells === null) {
    return;
  }
  if (reading.cells.length + reading.columns > cellsMax) {
    throw new UnreadableSheetError(`line ${reading.line}: it has more than ${cellsMax} cells`);
  }
  const text = decodeEntity(reading.text.replaceAll(/&nbsp;/gi, ' '));
  reading.cells.push(text.replaceAll(/\s+/g, ' ').trim());
  for (let column = 1; column < reading.columns; column += 1) {
    reading.cells.push('');
  }
  reading.text = null;
}

function* endRow(reading: Reading): Generator<SheetLine> {
  endCell(reading);
  if (reading.cells !== null) {
    yield { line: reading.line, cells: reading.cells };
  }
  reading.cells = null;
}
