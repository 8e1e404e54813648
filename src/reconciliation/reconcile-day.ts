/**
 * Compares a provider's record of one day with our sales. The record can be a CSV export of the
 * provider's member area.
 */
import type { ProviderRecordRow } from '../providers/adapter.js';
import { ConflictError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import type { Account } from '../accounts/account.model.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { getBusinessDayByName } from '../shared/business-time.js';
import { getAdapter, buildConnection } from '../providers/get-adapter.js';
import { orders } from '../purchases/order.model.js';
import { storeReconciliation } from './stored-reconciliations.js';
import { isDayOver } from './reconcile-due.js';
import { readRecord } from './record/read-record.js';
import type { DateOrder } from './record/record-time.js';
import { reconcileProvider, getRecordPeriod, type Reconciliation } from './reconcile-provider.js';

/**
 * Compares a provider's record of one business day with ours, and writes an audit entry. The result
 * is stored only if the record came directly from the provider and the day is over.
 *
 * @param asked.csv The record as an export of the provider's member area. Null to fetch the record
 * from the provider.
 * @param asked.dateOrder The order of day and month in the file, if the caller names it.
 * @param asked.salesMax Maximum number of our sales on this day. A day with more needs the command
 * line.
 * @throws ValidationError if the day or the file is invalid.
 * @throws ConflictError if the provider has no record, or if the day has more than `salesMax`
 * sales.
 */
export async function reconcileDay(
  seller: Account,
  asked: {
    date: string;
    csv: string | null;
    dateOrder?: DateOrder | undefined;
    exported?: boolean;
    salesMax?: number;
  },
  by: ChangedBy,
): Promise<Reconciliation> {
  const { date, csv, dateOrder, exported = false, salesMax } = asked;
  if (salesMax !== undefined && (await countSales(seller, date, salesMax)) > salesMax) {
    throw new ConflictError(
      asWritten(
        `${date} has more than ${salesMax} sales. Run topup reconcile --provider ${seller.username} --date ${date}`,
      ),
    );
  }
  const record =
    csv === null ? await fetchRecord(seller, date) : await readRecordFile(seller, csv, dateOrder);
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

/** Reads a file. Its references may have the form that the provider knows them by. */
async function readRecordFile(seller: Account, csv: string, order?: DateOrder): Promise<ProviderRecordRow[]> {
  const rows = await readRecord(csv, order);
  const { fromProviderRef } = seller.provider ? getAdapter(seller.provider.kind) : {};
  return fromProviderRef
    ? rows.map((row) => ({ ...row, providerRef: fromProviderRef(row.providerRef) }))
    : rows;
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
