import { csvText } from '../shared/csv-text.js';
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
  return format === 'json' ? jsonText() : { ...csvText(Object.keys(columns), format), tail: () => '' };
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
