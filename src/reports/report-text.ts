import { stringify } from 'csv-stringify/sync';
import type { Columns } from './report-columns.js';
import type { ReportRow } from './report-rows.js';
import type { ReportFormat } from './report.model.js';

/** Turns the rows of a report into its text, page by page. */
export interface ReportText {
  head: string;
  /** The next rows, in order. */
  rows(page: readonly ReportRow[]): string;
  tail(): string;
}

export function reportText(format: ReportFormat, columns: Columns): ReportText {
  return format === 'csv' ? csvText(Object.keys(columns)) : jsonText();
}

/** RFC 4180 with a header row; a cell that a spreadsheet would run as a formula is prefixed with `'`. */
function csvText(columns: string[]): ReportText {
  const options = { columns, escape_formulas: true, record_delimiter: 'windows' } as const;
  return {
    head: stringify([columns], options),
    rows: (page) => stringify([...page], options),
    tail: () => '',
  };
}

/** A JSON array with one item a line, so that a reader can take the first items without the rest. */
function jsonText(): ReportText {
  let separator = '\n';
  return {
    head: '[',
    rows: (page) =>
      page
        .map((row) => {
          const line = separator + JSON.stringify(row);
          separator = ',\n';
          return line;
        })
        .join(''),
    tail: () => '\n]\n',
  };
}
