import { limits } from '../../../config/limits.js';
import type { ProductStatus } from '../../products/product.model.js';
import {
  cellFaults,
  readCsvLines,
  isEmptyLine,
  UnreadableSheetError,
  type SheetLine,
} from '../../workbook/csv-lines.js';
import { iterateInSlices } from '../../shared/collections.js';
import type { MergedRange } from '../../workbook/rows.js';
import { readWorkbookLines } from '../../workbook/read-workbook.js';
import { isZip } from '../../workbook/zip.js';
import { columnNames, readHeadings, isMisaligned, buildUnreadableError } from './price-columns.js';

/** Reasons why a line of a price list is refused. */
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

/** The values that a line sets, with amounts in rupiah. Omitted fields keep their value. */
export interface PriceLine {
  line: number;
  code: string;
  /** Username of the seller. */
  seller: string;
  price?: number;
  cost?: number;
  status?: ProductStatus;
}

export interface PriceFile {
  /** Number of lines, excluding the heading. */
  lines: number;
  wanted: PriceLine[];
  refused: RefusedLine[];
}

const statuses: readonly string[] = ['active', 'inactive', 'maintenance'] satisfies ProductStatus[];

/**
 * Reads a price list from CSV (UTF-8) or from the first sheet of a workbook. The first line names
 * the columns: code, seller, and at least one of price, cost and status. Other columns are ignored.
 * An empty cell changes nothing. Long files are read in slices, so that other work can run in
 * between.
 *
 * @throws ValidationError for an unreadable file, or for a file above `limits.priceFileBytesMax` or
 *   `limits.priceFileLinesMax`.
 */
export async function readPriceFile(bytes: Uint8Array): Promise<PriceFile> {
  const {
    lines: [head, ...rows],
    merged,
  } = await readLines(bytes);
  const headings = readHeadings(head, merged);
  const { columns } = headings;
  const seen = new Set<string>();
  const wanted: PriceLine[] = [];
  const refused: RefusedLine[] = [];
  for (const row of rows) {
    const { line, cells, faults } = row;
    const cell = (name: (typeof columnNames)[number]) => (cells[columns[name]] ?? '').trim();
    // A faulty cell must not count as empty, because the author of the file sees a value in it.
    const fault = columnNames.map((name) => faults?.get(columns[name])).find((each) => each !== undefined);
    const read = isMisaligned(row, headings) ? 'no-heading' : (fault ?? readLine(line, cell));
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
  // A price of 0 is always a mistake.
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
    line,
    code,
    seller,
    ...(price !== '' && { price: Number(price) }),
    ...(cost !== '' && { cost: Number(cost) }),
    ...(word !== '' && { status: word as ProductStatus }),
  };
}

/**
 * True for text with digits only, and for empty text. `10.500` is ambiguous, because the dot may be
 * a decimal or a thousands separator.
 */
function isRupiah(text: string): boolean {
  return /^\d*$/.test(text);
}

async function readLines(bytes: Uint8Array): Promise<{ lines: SheetLine[]; merged: MergedRange[] }> {
  if (bytes.length > limits.priceFileBytesMax) {
    throw buildUnreadableError(`it has ${bytes.length} bytes, and the limit is ${limits.priceFileBytesMax}`);
  }
  const lines: SheetLine[] = [];
  const merged: MergedRange[] = [];
  try {
    const source = isZip(bytes)
      ? readWorkbookLines(bytes, merged)
      : iterateInSlices(readCsvLines(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
    for await (const line of source) {
      if (isEmptyLine(line)) {
        continue;
      }
      // The heading line does not count.
      if (lines.length > limits.priceFileLinesMax) {
        throw new UnreadableSheetError(`it has more than ${limits.priceFileLinesMax} lines`);
      }
      lines.push(line);
    }
  } catch (error) {
    if (error instanceof UnreadableSheetError) {
      throw buildUnreadableError(error.message);
    }
    if (error instanceof TypeError) {
      throw buildUnreadableError('it is neither a workbook (xlsx) nor CSV in UTF-8');
    }
    throw error;
  }
  return { lines, merged };
}
