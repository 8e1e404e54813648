import { stringify } from 'csv-stringify/sync';
import { printable } from './printable.js';

/** Rows as CSV, page by page: RFC 4180 with a header row; a cell that a spreadsheet would run as a formula is prefixed with `'`, and a cell is one line. */
export function csvText(columns: string[]): { head: string; rows(page: readonly object[]): string } {
  const options = {
    columns,
    escape_formulas: true,
    record_delimiter: 'windows',
    cast: { string: printable },
  } as const;
  return {
    head: stringify([columns], options),
    rows: (page) => stringify([...page], options),
  };
}
