import { stringify, type Options } from 'csv-stringify/sync';
import { toPrintable } from './printable.js';

/** `csv-excel` is for files that a user opens directly in Excel (decision 039). */
export type CsvFormat = 'csv' | 'csv-excel';

/**
 * Writes rows as CSV, page by page: RFC 4180 with a header row. Each cell is one line, and no
 * spreadsheet runs it as a formula.
 * `csv` prefixes formulas with `'`. `csv-excel` writes texts that Excel shows unchanged, and
 * numbers as numbers. Both write `true` and `false` as words.
 */
export function createCsvText(
  columns: string[],
  format: CsvFormat = 'csv',
): { head: string; rows: (page: readonly object[]) => string } {
  const shape: Options = { columns, record_delimiter: 'windows' };
  // The library writes `1` for true and an empty cell for false, which looks like an unknown value.
  const boolean = String;
  const options: Options =
    format === 'csv'
      ? { ...shape, escape_formulas: true, cast: { boolean, string: toOneLine } }
      : { ...shape, cast: { boolean, string: toExcelText } };
  return {
    // Without a byte order mark Excel reads UTF-8 in the code page of the machine.
    head: (format === 'csv' ? '' : '\ufeff') + stringify([columns], shape),
    rows: (page) => stringify([...page], options),
  };
}

/** Maximum length of a text within an Excel formula. */
const literalMax = 255;
/** Start of a formula in spreadsheets, including full-width characters. */
const formulaPattern = /^["\s]*[=+\-@\uff1d\uff0b\uff0d\uff20]/;
/** Where Windows separates lists with `;`, a new cell starts after each `;`, even within quotes. */
const formulaAfterSemicolonPattern = /;(?=["\s]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

function toOneLine(text: string): string {
  return toPrintable(text).replace(formulaAfterSemicolonPattern, ";'");
}

/**
 * Returns a formula whose value is the text, such as `="0812"`. Quotes in the text are doubled, so
 * that the text cannot end the formula.
 */
function toExcelText(text: string): string {
  const line = toOneLine(text);
  if (line === '') {
    return '';
  }
  if (line.length > literalMax) {
    return formulaPattern.test(line) ? `'${line}` : line;
  }
  return `="${line.replaceAll('"', '""')}"`;
}
