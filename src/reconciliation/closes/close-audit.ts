import { createHash } from 'node:crypto';
import type { Document } from 'mongodb';
import { hashAuditEntry, auditReadOptions } from '../../audit/read-audit.js';
import { auditEntries } from '../../audit/audit.model.js';
import { auditCloses, type AuditClose } from '../../audit/audit-close.model.js';
import { runInTransaction } from '../../database/mongo.js';
import { dayCloses, type DayAudit } from '../../money/closes/day-close.model.js';
import type { ClosedDay } from '../../money/closes/day-closes.js';
import { addDays, getStartOfDay } from '../../shared/business-time.js';
import { collectChunks } from '../../shared/collections.js';
import { readPages } from '../ledger/read-pages.js';
import type { DayBound } from './build-wallet-close.js';

const entriesPerBatch = 500;
/**
 * An entry may be committed later than its own time. The next close covers it if the delay is at
 * most this long.
 */
const lateMaxMs = 7 * 86_400_000;

/**
 * Covers the audit entries up to the end of a day that no close covers yet, with a row and a hash
 * for each. The first close that has such rows covers all entries before it.
 *
 * Entries are hashed here, not when they are written, so that writers do not wait for each other
 * and the log never changes.
 *
 * Safe to run twice or concurrently: the entry's id allows only one row, and each batch increments
 * `batches` of the day.
 * @returns False if another process has closed the day, so that nothing is left to do.
 */
export async function closeAudit({ day, end }: DayBound, previous: ClosedDay | null): Promise<boolean> {
  const from = previous?.content.audit
    ? new Date(getStartOfDay(addDays(previous._id, 1)).getTime() - lateMaxMs)
    : null;
  // The time of an entry never changes, so each entry is read once. A failover cannot roll back
  // what this query reads.
  const source = auditEntries
    .find<Document>(
      { at: { $lt: end, ...(from && { $gte: from }) } },
      { ...auditReadOptions, readConcern: 'majority' },
    )
    .sort({ at: 1 });
  for await (const entries of collectChunks(source, entriesPerBatch)) {
    const rows = entries.map((entry) => ({
      _id: String(entry['_id']),
      day,
      hash: hashAuditEntry(entry),
    }));
    if (!(await addCloses(day, rows))) {
      return false;
    }
  }
  return true;
}

async function addCloses(day: string, rows: AuditClose[]): Promise<boolean> {
  const ids = rows.map(({ _id }) => _id);
  const isFresh = async (session?: Parameters<Parameters<typeof runInTransaction>[0]>[0]) => {
    const options = { projection: { _id: 1 }, ...(session && { session }) };
    const known = await auditCloses.find({ _id: { $in: ids } }, options).toArray();
    const covered = new Set(known.map(({ _id }) => _id));
    return rows.filter(({ _id }) => !covered.has(_id));
  };
  // If a failover rolls such a row back, the next close covers the entry.
  if ((await isFresh()).length === 0) {
    return true;
  }
  return runInTransaction(async (session) => {
    const fence = await dayCloses.updateOne(
      { _id: day, state: 'building' },
      { $inc: { batches: 1 } },
      { session },
    );
    const fresh = fence.matchedCount === 0 ? [] : await isFresh(session);
    if (fresh.length > 0) {
      await auditCloses.insertMany(fresh, { session });
    }
    return fence.matchedCount === 1;
  });
}

/** Counts and hashes a day's rows, in the order of their entries' ids. */
export async function readDayAudit(day: string): Promise<DayAudit> {
  const digest = createHash('sha256');
  let entries = 0;
  const rows = readPages<AuditClose>((last) => [
    auditCloses
      .find({ day, ...(last && { _id: { $gt: last._id } }) }, { readConcern: 'majority' })
      .sort({ day: 1, _id: 1 }),
  ]);
  for await (const { _id, hash } of rows) {
    digest.update(`${_id} ${hash}\n`);
    entries += 1;
  }
  return { entries, hash: digest.digest('hex') };
}
