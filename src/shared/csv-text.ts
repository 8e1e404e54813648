import { stringify, type Options } from 'csv-stringify/sync';
import { toPrintable } from './printable.js';

/** `csv-excel`: for whoever opens the file by a double click (decision 039). */
export type CsvFormat = 'csv' | 'csv-excel';

/**
 * Rows as CSV, page by page: RFC 4180 with a header row; a cell is one line, and none is run by a spreadsheet as a formula. In `csv` one
 * that would be is prefixed with `'`; in `csv-excel` every text is one that Excel shows as it is, and numbers are numbers. `true` and `false` are these words in both.
 */
export function csvText(
  columns: string[],
  format: CsvFormat = 'csv',
): { head: string; rows: (page: readonly object[]) => string } {
  const shape: Options = { columns, record_delimiter: 'windows' };
  // The library's own are 1 and an empty cell, which reads as "not known".
  const boolean = String;
  const options: Options =
    format === 'csv'
      ? { ...shape, escape_formulas: true, cast: { boolean, string: oneLine } }
      : { ...shape, cast: { boolean, string: excelText } };
  return {
    // Without its mark of bytes Excel reads UTF-8 as the code page of the machine.
    head: (format === 'csv' ? '' : '\ufeff') + stringify([columns], shape),
    rows: (page) => stringify([...page], options),
  };
}

/** Excel knows no longer text within a formula. */
const literalMax = 255;
/** As spreadsheets take them, those of full width too. */
const formula = /^["\s]*[=+\-@\uff1d\uff0b\uff0d\uff20]/;
/** Where Windows separates lists by `;` a cell begins after it, also between quotes that we wrote. */
const formulaAfterSemicolon = /;(?=["\s]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

function oneLine(text: string): string {
  return toPrintable(text).replace(formulaAfterSemicolon, ";'");
}

/** A formula of ours whose value is the text: `="0812"`. What is in it cannot end it, because its quotes are doubled. */
function excelText(text: string): string {
  const line = oneLine(text);
  if (line === '') {
    return '';
  }
  if (line.length > literalMax) {
    return formula.test(line) ? `'${line}` : line;
  }
  return `="${line.replaceAll('"', '""')}"`;
}
