import { iterateInSlices } from '../../shared/collections.js';
import { UnreadableSheetError, type SheetLine } from '../../workbook/csv-lines.js';
import { toPrintable } from '../../shared/printable.js';
import { parseDay } from './bank-cells.js';
import {
  findColumns,
  findDuplicateHeading,
  findForeignAmounts,
  findMissingColumns,
  findScaledAmounts,
  type BankColumns,
} from './bank-columns.js';
import { findTitle } from './table-title.js';
import { findForeignAccount } from './bank-currency.js';
import { buildForeignError, buildUnreadableError } from './statement-line.js';

/** First and last day of a statement, YYYY-MM-DD. */
export interface StatementPeriod {
  first: string;
  last: string;
}

interface Heading<Source> {
  source: Source;
  columns: BankColumns;
  line: number;
  /** The period that the rows above the headings name. */
  period: StatementPeriod | null;
  /** The last title above the headings, or an empty text. */
  title: string;
}

/** Maximum number of rows before the headings. They hold the account's name, number and period. */
const preambleMax = 60;

/**
 * Finds the first row with all required headings, whichever separator the file uses.
 * @throws ValidationError if there is none, if it is ambiguous, or if it or the rows above it name a
 * currency other than rupiah.
 */
export async function findHeading<Source extends () => Iterable<SheetLine>>(
  sources: readonly Source[],
  today: string,
): Promise<Heading<Source>> {
  let missing: string[] = findMissingColumns(findColumns([]));
  for (const source of sources) {
    try {
      const found = await findHeadingIn(source(), today);
      if (!Array.isArray(found)) {
        return { source, ...found };
      }
      missing = found.length < missing.length ? found : missing;
    } catch (error) {
      if (!(error instanceof UnreadableSheetError)) {
        throw error;
      }
      // Try the next separator.
      missing = sources.length === 1 ? [error.message] : missing;
    }
  }
  throw buildUnreadableError(
    `its first ${preambleMax} lines have no heading for ${missing.join(', nor ')}. Export it again with its headings`,
  );
}

/** Returns the required columns that no row has, if the headings are not found. */
async function findHeadingIn(
  rows: Iterable<SheetLine>,
  today: string,
): Promise<Omit<Heading<null>, 'source'> | string[]> {
  let missing: string[] = findMissingColumns(findColumns([]));
  let [period, foreign]: [StatementPeriod | null, string | undefined] = [null, undefined];
  let [above, title]: [readonly string[], string] = [[], ''];
  for await (const { line, cells } of iterateInSlices(rows)) {
    const columns = findColumns(cells);
    const lacks = findMissingColumns(columns);
    if (columns.date >= 0) {
      refuseOtherUnits(line, cells);
    }
    if (lacks.length === 0) {
      refuseAmbiguousHeading(line, cells);
      if (foreign !== undefined) {
        throw buildForeignError('its beginning', foreign);
      }
      return { columns, line, period, title };
    }
    missing = lacks.length < missing.length ? lacks : missing;
    foreign ??= findForeignAccount(cells, above);
    period ??= findPeriod(cells, today);
    refuseScaledPreamble(line, cells);
    title = findTitle(cells)?.text ?? title;
    above = cells;
    if (line >= preambleMax) {
      break;
    }
  }
  return missing;
}

/** @throws ValidationError if a column of amounts is in another currency, or in thousands. */
export function refuseOtherUnits(line: number, cells: readonly string[]): void {
  const foreign = findForeignAmounts(cells);
  if (foreign !== undefined) {
    throw buildForeignError(`line ${line}`, foreign);
  }
  const scaled = findScaledAmounts(cells);
  if (scaled !== undefined) {
    throw buildUnreadableError(
      `line ${line}: ${toPrintable(scaled.slice(0, 50))} is not in whole rupiah. Export it again with full amounts`,
    );
  }
}

const scaledPattern =
  /\b(?:dalam|in|satuan|unit)\b[\s:.()]*(?:(?:rp|rupiah|idr|of)\b[\s.']*)?(?:ribu(?:an)?|juta(?:an)?|thousands?|millions?|'?000)\b/i;

/** @throws ValidationError if a row above the headings says that amounts are in thousands or millions. */
function refuseScaledPreamble(line: number, cells: readonly string[]): void {
  const scaled = cells.find((each) => scaledPattern.test(each.slice(0, 200)));
  if (scaled !== undefined) {
    throw buildUnreadableError(
      `line ${line}: ${toPrintable(scaled.slice(0, 50))} is not in whole rupiah. Export it again with full amounts`,
    );
  }
}

/** @throws ValidationError if two columns of amounts have the same meaning. */
export function refuseAmbiguousHeading(line: number, cells: readonly string[]): void {
  const twice = findDuplicateHeading(cells);
  if (twice !== undefined) {
    throw buildUnreadableError(
      `line ${line} names the column ${twice} twice, which is ambiguous. Remove one of them`,
    );
  }
}

const dayPattern = /\d{4}-\d{2}-\d{2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,2}[-\s][a-z]{3,9}[-\s]\d{4}/gi;

/** Reads a row such as `Periode : 01/11/2026 - 30/11/2026`. */
function findPeriod(cells: readonly string[], today: string): StatementPeriod | null {
  const text = cells.join(' ').slice(0, 300);
  const days = /period/i.test(text)
    ? (text.match(dayPattern) ?? []).map((each) => parseDay(each, today))
    : [];
  const [first, last] = days;
  return typeof first === 'string' && typeof last === 'string' && first <= last && days.length === 2
    ? { first, last }
    : null;
}
