/** A provider's record of our orders as CSV, such as its member area exports. */
import type { ProviderRecordRow } from '../providers/adapter.js';
import { csvLines, isEmptyLine, UnreadableSheetError, type SheetLine } from '../shared/csv-lines.js';
import { ValidationError } from '../shared/errors.js';
import { iterateInSlices } from '../shared/in-slices.js';
import { asWritten } from '../shared/say.js';
import { lookUp } from '../shared/look-up.js';
import { toPrintableDeep } from '../shared/printable.js';

const statusWords: Record<string, ProviderRecordRow['status']> = {
  success: 'success',
  sukses: 'success',
  failed: 'failed',
  gagal: 'failed',
  pending: 'pending',
};

/**
 * Columns by their names in the first line: ref_id, at (ISO 8601), status (success, failed, pending, or Sukses,
 * Gagal, Pending), and sn if there is one; others are left alone. A long one is read with pauses, and holds up nobody.
 * @throws ValidationError that names the record.
 */
export async function readRecord(csv: string): Promise<ProviderRecordRow[]> {
  let columns: Columns | undefined;
  const rows: ProviderRecordRow[] = [];
  try {
    for await (const line of iterateInSlices(csvLines(csv))) {
      if (isEmptyLine(line)) {
        continue;
      }
      if (columns) {
        rows.push(readRow(line, columns, rows.length + 1));
      } else {
        columns = findColumns(line);
      }
    }
  } catch (error) {
    throw error instanceof UnreadableSheetError ? buildUnreadableError(error.message) : error;
  }
  if (!columns) {
    throw buildUnnamedColumnsError();
  }
  return rows;
}

/** Places in a row; `sn` is -1 without such a column. */
type Columns = Record<'refId' | 'at' | 'status' | 'sn', number>;

function findColumns({ cells }: SheetLine): Columns {
  const names = cells.map((title) => title.trim().toLowerCase());
  const column = (name: string) => names.indexOf(name);
  const columns = { refId: column('ref_id'), at: column('at'), status: column('status'), sn: column('sn') };
  if (Math.min(columns.refId, columns.at, columns.status) < 0) {
    throw buildUnnamedColumnsError();
  }
  return columns;
}

function readRow(
  { cells }: SheetLine,
  { refId, at, status, sn }: Columns,
  record: number,
): ProviderRecordRow {
  const time = new Date(cells[at] ?? '');
  const state = lookUp(statusWords, (cells[status] ?? '').trim().toLowerCase());
  const providerRef = cells[refId];
  if (Number.isNaN(time.getTime()) || !state || !providerRef) {
    throw buildUnreadableError(`record ${record}: ref_id, at or status cannot be read`);
  }
  return toPrintableDeep({ providerRef, at: time, status: state, serialNumber: cells[sn] || null });
}

function buildUnnamedColumnsError(): ValidationError {
  return buildUnreadableError('the first line must name the columns ref_id, at and status');
}

function buildUnreadableError(why: string): ValidationError {
  return new ValidationError([{ field: 'csv', message: asWritten(`csv: ${why}`) }]);
}
