/** Reads a provider's record of executed orders from the CSV export of its member area. */
import type { ProviderRecordRow } from '../../providers/adapter.js';
import { readSerialNumber } from '../../providers/serial-number.js';
import { iterateInSlices, lookUp } from '../../shared/collections.js';
import { ValidationError } from '../../shared/errors.js';
import { toPrintable, toPrintableDeep } from '../../shared/printable.js';
import { asWritten } from '../../shared/say.js';
import { isEmptyLine, readCsvLines, UnreadableSheetError, type SheetLine } from '../../workbook/csv-lines.js';
import { createTimeReader, UnreadableTimeError, type DateOrder } from './record-time.js';

const statusWords: Record<string, ProviderRecordRow['status']> = {
  success: 'success',
  sukses: 'success',
  failed: 'failed',
  gagal: 'failed',
  pending: 'pending',
};

/**
 * Reads a provider's CSV record. The first line names the columns: ref_id, at, status (success,
 * failed, pending, or Sukses, Gagal, Pending) and optionally sn. Other columns are ignored. Each
 * line is understood, or the file is refused with the line and the column. The function yields
 * regularly, so that a long file does not block the event loop.
 * @param order The order of day and month, if the caller names it (record-time.ts).
 * @throws ValidationError if the record is invalid.
 */
export async function readRecord(csv: string, order?: DateOrder): Promise<ProviderRecordRow[]> {
  let columns: Columns | undefined;
  const rows: ProviderRecordRow[] = [];
  const readTime = createTimeReader(order);
  try {
    for await (const line of iterateInSlices(readCsvLines(csv))) {
      if (isEmptyLine(line)) {
        continue;
      }
      if (columns) {
        rows.push(readRow(line, columns, readTime));
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

const required = ['ref_id', 'at', 'status'] as const;
const names = [...required, 'sn'] as const;

/** Positions of the columns, and the number of headings. `sn` is -1 if there is no such column. */
type Columns = Record<(typeof names)[number] | 'count', number>;

function findColumns({ line, cells }: SheetLine): Columns {
  const titles = cells.map((title) => title.trim().toLowerCase());
  const repeated = names.find((name) => titles.indexOf(name) !== titles.lastIndexOf(name));
  if (repeated !== undefined) {
    throw buildUnreadableError(`line ${line}: it names the column ${repeated} twice`);
  }
  const [refId = -1, at = -1, status = -1, sn = -1] = names.map((name) => titles.indexOf(name));
  if (Math.min(refId, at, status) < 0) {
    throw buildUnnamedColumnsError();
  }
  return { ref_id: refId, at, status, sn, count: cells.length };
}

function readRow(
  { line, cells }: SheetLine,
  columns: Columns,
  readTime: (text: string) => Date,
): ProviderRecordRow {
  if (cells.length !== columns.count) {
    throw buildUnreadableError(`line ${line}: it has ${cells.length} cells under ${columns.count} headings`);
  }
  const cell = (name: (typeof names)[number]) => (cells[columns[name]] ?? '').trim();
  const refuse = (name: (typeof names)[number], why: string) =>
    buildUnreadableError(`line ${line}, ${name} "${toPrintable(cell(name)).slice(0, shownMax)}" ${why}`);
  const status = lookUp(statusWords, cell('status').toLowerCase());
  if (!status) {
    throw refuse('status', 'is not success, failed, pending, Sukses or Gagal');
  }
  if (cell('ref_id') === '') {
    throw refuse('ref_id', 'is empty');
  }
  try {
    const at = readTime(cell('at'));
    return toPrintableDeep({
      providerRef: cell('ref_id'),
      at,
      status,
      serialNumber: readSerialNumber(cell('sn')),
    });
  } catch (error) {
    throw error instanceof UnreadableTimeError ? refuse('at', error.message) : error;
  }
}

/** Characters of a cell that a refusal repeats. */
const shownMax = 60;

function buildUnnamedColumnsError(): ValidationError {
  return buildUnreadableError(`the first line must name the columns ${required.join(', ')}`);
}

function buildUnreadableError(why: string): ValidationError {
  return new ValidationError([{ field: 'csv', message: asWritten(`csv: ${why}`) }]);
}
