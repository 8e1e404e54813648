import type { Account } from '../accounts/account.model.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { getBusinessDayByName } from '../shared/business-time.js';
import type { ProviderRecordRow } from '../providers/adapter.js';
import { getAdapter, buildConnection } from '../providers/get-adapter.js';
import { orders } from '../purchases/order.model.js';
import { ConflictError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { storeReconciliation } from './keep-reconciliation.js';
import { isOver } from './reconcile-due.js';
import { reconcileProvider, getRecordPeriod, type Reconciliation } from './reconcile-provider.js';
import { readRecord } from './read-record.js';

/**
 * Holds a provider's record of one business day against ours, keeps what that came to where the provider itself was asked about a
 * day that is over, and notes in the audit log that somebody has looked.
 * @param asked.csv The record that the provider's member area exports; null: the provider is asked for it.
 * @param asked.salesMax Of ours on this day: more are read on the command line alone.
 * @throws ValidationError for a day or file that cannot be read, ConflictError where the provider gives no record, or for more sales.
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
        `${date} has more than ${salesMax} sales: topup reconcile --provider ${seller.username} --date ${date}`,
      ),
    );
  }
  const record = csv === null ? await fetchRecord(seller, date) : await readRecord(csv);
  const found = await reconcileProvider(seller, date, record);
  // A file is what somebody has brought, not what the provider says; and a day that is not over is the clock's still.
  if (csv === null && isOver(date)) {
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
      asWritten('This provider cannot be asked for its record: give its export as a file.'),
    );
  }
  const reading = await adapter.record(buildConnection(seller), getRecordPeriod(date));
  if (!reading.ok) {
    throw new ConflictError(asWritten(`The provider did not give its record: ${reading.message}`));
  }
  return reading.value;
}
