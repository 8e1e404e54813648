/** A provider's record of our orders as a CSV file, such as its member area exports. */
import { readFileSync } from 'node:fs';
import type { ProviderRecordRow } from '../../src/providers/adapter.js';
import { UsageError } from './usage-error.js';

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
 * @throws UsageError that names the line.
 */
export function readRecord(path: string): ProviderRecordRow[] {
  const [head = [], ...rows] = parseCsv(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
  const column = (name: string) => head.findIndex((title) => title.trim().toLowerCase() === name);
  const [refId, at, status, sn] = ['ref_id', 'at', 'status', 'sn'].map(column);
  if (refId === undefined || at === undefined || status === undefined || Math.min(refId, at, status) < 0) {
    throw new UsageError(`${path} needs the columns ref_id, at and status in its first line.`);
  }
  return rows.map((row, index) => {
    const time = new Date(row[at] ?? '');
    const state = words[(row[status] ?? '').trim().toLowerCase()];
    if (Number.isNaN(time.getTime()) || !state || !row[refId]) {
      throw new UsageError(`${path}, record ${index + 1}: ref_id, at or status cannot be read.`);
    }
    return { providerRef: row[refId], at: time, status: state, serialNumber: row[sn ?? -1] || null };
  });
}

/** RFC 4180: quoted cells may hold commas, quotes and line ends. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const cells = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g;
  for (const [whole, quoted, plain, end] of text.matchAll(cells)) {
    if (whole === '' && row.length === 0) {
      break;
    }
    row.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
    if (end !== ',') {
      if (row.length > 1 || row[0] !== '') {
        rows.push(row);
      }
      row = [];
    }
  }
  return rows;
}
