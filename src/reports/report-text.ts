import { createCsvText } from '../shared/csv-text.js';
import { getColumns } from './report-columns.js';
import type { ReportRow } from './report-rows.js';
import type { Report } from './report.model.js';
import { createXlsxText } from './xlsx.js';

/** Formats the rows of a report as its file, page by page. */
export interface ReportText {
  head(): string | Buffer;
  /** Formats the next rows, in order. */
  rows(page: readonly ReportRow[]): string | Buffer;
  tail(): string | Buffer;
}

export function createReportText(report: Pick<Report, 'role' | 'type' | 'format' | 'zone'>): ReportText {
  const columns = getColumns(report);
  switch (report.format) {
    case 'json':
      return createJsonText();
    case 'xlsx':
      return createXlsxText(columns, { zone: report.zone });
    case 'csv':
    case 'csv-excel': {
      const { head, rows } = createCsvText(Object.keys(columns), report.format);
      return { head: () => head, rows, tail: () => '' };
    }
  }
}

/**
 * Formats a JSON array with one item per line, so that `readReportItems` can read the first items
 * only.
 */
function createJsonText(): ReportText {
  let separator = '\n';
  return {
    head: () => '[',
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
