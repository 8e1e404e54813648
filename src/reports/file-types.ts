import type { ReportFormat } from './report.model.js';

const csv = { extension: 'csv', contentType: 'text/csv; charset=utf-8; header=present' };

/** What the file of a report is called and sent as, by its format. */
export const fileTypes: Record<ReportFormat, { extension: string; contentType: string }> = {
  json: { extension: 'json', contentType: 'application/json' },
  csv,
  'csv-excel': csv,
  xlsx: {
    extension: 'xlsx',
    contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  },
};
