import { limits } from '../../../config/limits.js';
import type { ProductStatus } from '../../products/product.model.js';
import {
  cellFaults,
  csvLines,
  isEmptyLine,
  UnreadableSheetError,
  type CellFault,
  type SheetLine,
} from '../../shared/csv-lines.js';
import { ValidationError } from '../../shared/errors.js';
import { inSlices } from '../../shared/in-slices.js';
import type { MergedRange } from '../../shared/merged-range.js';
import { asWritten } from '../../shared/say.js';
import { workbookLines } from '../../shared/workbook-lines.js';
import { isZip } from '../../shared/zip-parts.js';

/** Why a line of a price list changes nothing. */
export const lineRefusals = [
  'no-code',
  'no-seller',
  'bad-price',
  'bad-cost',
  'price-too-high',
  'cost-too-high',
  'bad-status',
  'nothing-said',
  'no-heading',
  ...cellFaults,
  'repeated',
  'unknown-product',
  'unknown-seller',
  'no-offer',
] as const;
export type LineRefusal = (typeof lineRefusals)[number];

export interface RefusedLine {
  line: number;
  why: LineRefusal;
}

/** What a line wants of an offer; what is left out stays. Rupiah. */
export interface PriceLine {
  line: number;
  code: string;
  /** Its username. */
  seller: string;
  price?: number;
  cost?: number;
  status?: ProductStatus;
}

export interface PriceFile {
  /** Lines but for the first, which names the columns. */
  lines: number;
  wanted: PriceLine[];
  refused: RefusedLine[];
}

const statuses: readonly string[] = ['active', 'inactive', 'maintenance'] satisfies ProductStatus[];
const columnNames = ['code', 'seller', 'price', 'cost', 'status'] as const;

/**
 * A price list as CSV (UTF-8) or workbook (its first sheet), by the columns that its first line names: code, seller, and of
 * price, cost and status those that it has. Others are left alone; an empty cell leaves what is. A long one is read with a pause
 * now and then, and holds up nobody.
 * @throws ValidationError for a file that is no such list, or larger than `limits.priceFileBytesMax` or `limits.priceFileLinesMax`.
 */
export async function readPriceFile(bytes: Uint8Array): Promise<PriceFile> {
  const {
    lines: [head, ...rows],
    merged,
  } = await linesOf(bytes);
  const names = head?.cells.map((each) => each.trim().toLowerCase()) ?? [];
  refuseFaultyHead(head, names);
  const columns = columnsOf(names);
  refuseMerged(merged, head?.line ?? 1, columns);
  const first = Math.min(...Object.values(columns).filter((place) => place >= 0));
  const seen = new Set<string>();
  const wanted: PriceLine[] = [];
  const refused: RefusedLine[] = [];
  for (const row of rows) {
    const { line, cells, faults } = row;
    const cell = (name: (typeof columnNames)[number]) => (cells[columns[name]] ?? '').trim();
    // Not as an empty cell, which leaves what is: whoever wrote the line sees something there.
    const fault = columnNames.map((name) => faults?.get(columns[name])).find((each) => each !== undefined);
    const read = isBesideHeadings(row, { names, first }) ? 'no-heading' : (fault ?? readLine(line, cell));
    const key = `${cell('code')} ${cell('seller')}`;
    if (typeof read === 'string') {
      refused.push({ line, why: read });
    } else if (seen.has(key)) {
      refused.push({ line, why: 'repeated' });
    } else {
      seen.add(key);
      wanted.push(read);
    }
  }
  return { lines: rows.length, wanted, refused };
}

type Columns = Record<(typeof columnNames)[number], number>;

function columnsOf(names: readonly string[]): Columns {
  const twice = columnNames.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice) {
    throw unreadable(`the first line names the column ${twice} twice`);
  }
  const columns = Object.fromEntries(columnNames.map((name) => [name, names.indexOf(name)])) as Columns;
  if (columns.code < 0 || columns.seller < 0 || Math.max(columns.price, columns.cost, columns.status) < 0) {
    throw unreadable('the first line must name the columns code, seller, and price, cost or status');
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
    throw unreadable(
      `the cells ${found.name} are merged. Only the first of them has a value in the file. Unmerge them, and fill each`,
    );
  }
}

interface Headings {
  names: readonly string[];
  /** The place of the first of ours. */
  first: number;
}

/**
 * Whether a line is longer than the headings, or has something where none has a name: then a separator within one of its values
 * has parted it (10,500), and each value after that stands under a wrong heading. What is before the first heading of ours is
 * a number of the line.
 */
function isBesideHeadings({ cells, faults }: SheetLine, { names, first }: Headings): boolean {
  return (
    cells.length > names.length ||
    cells.some(
      (each, place) => place > first && names[place] === '' && (each.trim() !== '' || faults?.has(place)),
    )
  );
}

const faultWords: Record<CellFault, string> = {
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
      throw unreadable(
        `line ${head?.line ?? 1}: its cell ${cellName(place, head?.line)} ${faultWords[fault]}`,
      );
    }
  }
}

/** Of the first 50 columns: C12. */
function cellName(place: number, line = 1): string {
  const letter = (at: number) => String.fromCharCode(65 + at);
  return `${place < 26 ? '' : letter(Math.floor(place / 26) - 1)}${letter(place % 26)}${line}`;
}

function readLine(
  line: number,
  cell: (name: (typeof columnNames)[number]) => string,
): PriceLine | LineRefusal {
  const [code, seller, price, cost, status] = columnNames.map(cell) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const word = status.toLowerCase();
  if (code === '') {
    return 'no-code';
  }
  if (seller === '') {
    return 'no-seller';
  }
  // Nobody sells for nothing: what is meant by it is another thing.
  if (!isRupiah(price) || /^0+$/.test(price)) {
    return 'bad-price';
  }
  if (!isRupiah(cost)) {
    return 'bad-cost';
  }
  if (Number(price) > limits.offerPriceMax) {
    return 'price-too-high';
  }
  if (Number(cost) > limits.offerPriceMax) {
    return 'cost-too-high';
  }
  if (word !== '' && !statuses.includes(word)) {
    return 'bad-status';
  }
  if (`${price}${cost}${word}` === '') {
    return 'nothing-said';
  }
  return {
    ...{ line, code, seller },
    ...(price !== '' && { price: Number(price) }),
    ...(cost !== '' && { cost: Number(cost) }),
    ...(word !== '' && { status: word as ProductStatus }),
  };
}

/** Digits alone: 10.500 is ten and a half to one reader and ten thousand five hundred to another. Nothing is no amount, and right. */
function isRupiah(text: string): boolean {
  return /^\d*$/.test(text);
}

async function linesOf(bytes: Uint8Array): Promise<{ lines: SheetLine[]; merged: MergedRange[] }> {
  if (bytes.length > limits.priceFileBytesMax) {
    throw unreadable(`it has ${bytes.length} bytes, at most ${limits.priceFileBytesMax} are read`);
  }
  const lines: SheetLine[] = [];
  const merged: MergedRange[] = [];
  try {
    const source = isZip(bytes)
      ? workbookLines(bytes, merged)
      : inSlices(csvLines(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
    for await (const line of source) {
      if (isEmptyLine(line)) {
        continue;
      }
      // The first names the columns.
      if (lines.length > limits.priceFileLinesMax) {
        throw new UnreadableSheetError(`at most ${limits.priceFileLinesMax} lines are read, and it has more`);
      }
      lines.push(line);
    }
  } catch (error) {
    if (error instanceof UnreadableSheetError) {
      throw unreadable(error.message);
    }
    if (error instanceof TypeError) {
      throw unreadable('it is neither a workbook (xlsx) nor CSV in UTF-8');
    }
    throw error;
  }
  return { lines, merged };
}

function unreadable(why: string): ValidationError {
  return new ValidationError([
    { field: 'file', message: asWritten(`The price list cannot be read: ${why}.`) },
  ]);
}
