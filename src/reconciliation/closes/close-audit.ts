import { createHash } from 'node:crypto';
import type { Document } from 'mongodb';
import { auditEntryHash, auditRead } from '../../audit/audit-entry-hash.js';
import { audit } from '../../audit/audit.model.js';
import { auditCloses, type AuditClose } from '../../audit/audit-close.model.js';
import { inTransaction } from '../../database/mongo.js';
import { dayCloses, type DayAudit } from '../../money/closes/day-close.model.js';
import type { ClosedDay } from '../../money/closes/find-close.js';
import { daysAfter, startOf } from '../../shared/business-time.js';
import { inChunks } from '../../shared/in-chunks.js';
import { inPages } from '../ledger/in-pages.js';
import type { DayBound } from './build-wallet-close.js';

const entriesPerBatch = 500;
/** An entry that came so much later than its own time, or of a clock so wrong, is still covered, once, by the next close. */
const lateMaxMs = 7 * 86_400_000;

/**
 * Covers the entries of the audit log up to the end of a day that no close covers yet: a row for each, with its hash.
 * Nothing is written when an entry is made, so that no two of them wait for each other, and the log itself is never
 * changed. The first close with such rows covers all that was before it.
 *
 * Safe to run twice and at once: an entry has one row, by its id, and each batch raises `batches` of the day.
 * @returns false if the day is closed meanwhile: nothing more is to be done.
 */
export async function closeAudit({ day, end }: DayBound, previous: ClosedDay | null): Promise<boolean> {
  const from = previous?.content.audit
    ? new Date(startOf(daysAfter(previous._id, 1)).getTime() - lateMaxMs)
    : null;
  // The time of an entry never changes, so each is seen once. A failover takes none of these back.
  const source = audit
    .find<Document>(
      { at: { $lt: end, ...(from && { $gte: from }) } },
      { ...auditRead, readConcern: 'majority' },
    )
    .sort({ at: 1 });
  for await (const entries of inChunks(source, entriesPerBatch)) {
    const rows = entries.map((entry) => ({
      _id: String(entry['_id']),
      day,
      hash: auditEntryHash(entry),
    }));
    if (!(await addCloses(day, rows))) {
      return false;
    }
  }
  return true;
}

async function addCloses(day: string, rows: AuditClose[]): Promise<boolean> {
  const ids = rows.map(({ _id }) => _id);
  const isFresh = async (session?: Parameters<Parameters<typeof inTransaction>[0]>[0]) => {
    const options = { projection: { _id: 1 }, ...(session && { session }) };
    const known = await auditCloses.find({ _id: { $in: ids } }, options).toArray();
    const covered = new Set(known.map(({ _id }) => _id));
    return rows.filter(({ _id }) => !covered.has(_id));
  };
  // If a failover takes such a row back, the next close covers its entry.
  if ((await isFresh()).length === 0) {
    return true;
  }
  return inTransaction(async (session) => {
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

/** What a day's rows come to, in the order of their entries' ids. */
export async function auditOfDay(day: string): Promise<DayAudit> {
  const digest = createHash('sha256');
  let entries = 0;
  const rows = inPages<AuditClose>((last) => [
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
