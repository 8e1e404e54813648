/** A provider's record of our orders as CSV, such as its member area exports. */
import type { ProviderRecordRow } from '../providers/adapter.js';
import { ValidationError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { lookUp } from '../shared/look-up.js';
import { printableWithin } from '../shared/printable.js';
import { parseCsv } from '../shared/parse-csv.js';

const words: Record<string, ProviderRecordRow['status']> = {
  success: 'success',
  sukses: 'success',
  failed: 'failed',
  gagal: 'failed',
  pending: 'pending',
};

/**
 * Columns by their names in the first line: ref_id, at (ISO 8601), status (success, failed, pending, or Sukses,
 * Gagal, Pending), and sn if there is one; others are left alone.
 * @throws ValidationError that names the record.
 */
export function readRecord(csv: string): ProviderRecordRow[] {
  const [head = [], ...rows] = parseCsv(csv);
  const column = (name: string) => head.findIndex((title) => title.trim().toLowerCase() === name);
  const [refId, at, status, sn] = ['ref_id', 'at', 'status', 'sn'].map(column);
  if (refId === undefined || at === undefined || status === undefined || Math.min(refId, at, status) < 0) {
    throw unreadable('the first line must name the columns ref_id, at and status');
  }
  return rows.map((row, index) => {
    const time = new Date(row[at] ?? '');
    const state = lookUp(words, (row[status] ?? '').trim().toLowerCase());
    if (Number.isNaN(time.getTime()) || !state || !row[refId]) {
      throw unreadable(`record ${index + 1}: ref_id, at or status cannot be read`);
    }
    return printableWithin({
      providerRef: row[refId],
      at: time,
      status: state,
      serialNumber: row[sn ?? -1] || null,
    });
  });
}

function unreadable(why: string): ValidationError {
  return new ValidationError([{ field: 'csv', message: asWritten(`csv: ${why}`) }]);
}
