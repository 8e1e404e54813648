/**
 * Compares a provider's record of one day with our sales. The record can be a CSV export of the
 * provider's member area.
 */
import type { ProviderRecordRow } from '../providers/adapter.js';
import { readCsvLines, isEmptyLine, UnreadableSheetError, type SheetLine } from '../workbook/csv-lines.js';
import { ValidationError, ConflictError } from '../shared/errors.js';
import { iterateInSlices, lookUp } from '../shared/collections.js';
import { asWritten } from '../shared/say.js';
import { toPrintableDeep } from '../shared/printable.js';
import type { Account } from '../accounts/account.model.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { getBusinessDayByName } from '../shared/business-time.js';
import { getAdapter, buildConnection } from '../providers/get-adapter.js';
import { orders } from '../purchases/order.model.js';
import { storeReconciliation } from './stored-reconciliations.js';
import { isDayOver } from './reconcile-due.js';
import { reconcileProvider, getRecordPeriod, type Reconciliation } from './reconcile-provider.js';

const statusWords: Record<string, ProviderRecordRow['status']> = {
  success: 'success',
  sukses: 'success',
  failed: 'failed',
  gagal: 'failed',
  pending: 'pending',
};

/**
 * Reads a provider's CSV record. The first line names the columns: ref_id, at (ISO 8601), status
 * (success, failed, pending, or Sukses, Gagal, Pending) and optionally sn. Other columns are
 * ignored. The function yields regularly, so that a long file does not block the event loop.
 * @throws ValidationError if the record is invalid.
 */
export async function readRecord(csv: string): Promise<ProviderRecordRow[]> {
  let columns: Columns | undefined;
  const rows: ProviderRecordRow[] = [];
  try {
    for await (const line of iterateInSlices(readCsvLines(csv))) {
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

/** Column positions. `sn` is -1 if the record has no such column. */
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

/**
 * Compares a provider's record of one business day with ours, and writes an audit entry. The result
 * is stored only if the record came directly from the provider and the day is over.
 *
 * @param asked.csv The record as an export of the provider's member area. Null to fetch the record
 * from the provider.
 * @param asked.salesMax Maximum number of our sales on this day. A day with more needs the command
 * line.
 * @throws ValidationError if the day or the file is invalid.
 * @throws ConflictError if the provider has no record, or if the day has more than `salesMax`
 * sales.
 */
export async function reconcileDay(
  seller: Account,
  asked: { date: string; csv: string | null; exported?: boolean; salesMax?: number },
  by: ChangedBy,
): Promise<Reconciliation> {
  const { date, csv, exported = false, salesMax } = asked;
  if (salesMax !== undefined && (await countSales(seller, date, salesMax)) > salesMax) {
    throw new ConflictError(
      asWritten(
        `${date} has more than ${salesMax} sales. Run topup reconcile --provider ${seller.username} --date ${date}`,
      ),
    );
  }
  const record = csv === null ? await fetchRecord(seller, date) : await readRecord(csv);
  const found = await reconcileProvider(seller, date, record);
  // A file does not come directly from the provider. A day that is not over is compared later by
  // the scheduled job.
  if (csv === null && isDayOver(date)) {
    await storeReconciliation(seller._id, found, by.actor);
  }
  await recordAudit(null, {
    ...by,
    action: 'provider.reconcile',
    subject: { kind: 'provider', id: seller._id },
    after: { date, differences: found.differences.length, csv: exported },
  });
  return found;
}

function countSales({ _id }: Account, date: string, salesMax: number): Promise<number> {
  const { startMs, endMs } = getBusinessDayByName(date);
  const ofDay = { $gte: new Date(startMs), $lte: new Date(endMs) };
  return orders.countDocuments({ sellerId: _id, createdAt: ofDay }, { limit: salesMax + 1 });
}

async function fetchRecord(seller: Account, date: string): Promise<ProviderRecordRow[]> {
  const adapter = seller.provider ? getAdapter(seller.provider.kind) : null;
  if (!adapter?.record) {
    throw new ConflictError(
      asWritten('This provider cannot return its record. Provide its export as a file.'),
    );
  }
  const reading = await adapter.record(buildConnection(seller), getRecordPeriod(date));
  if (!reading.ok) {
    throw new ConflictError(asWritten(`The provider did not return its record: ${reading.message}`));
  }
  return reading.value;
}
