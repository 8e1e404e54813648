import type { Document, Filter } from 'mongodb';
import { hashAuditEntry, auditReadOptions } from '../../audit/read-audit.js';
import { auditEntries } from '../../audit/audit.model.js';
import { auditCloses, type AuditClose } from '../../audit/audit-close.model.js';
import { dayCloses, type DayClose } from '../../money/closes/day-close.model.js';
import type { ClosedDay } from '../../money/closes/day-closes.js';
import { addDays, getStartOfDay } from '../../shared/business-time.js';
import { collectChunks } from '../../shared/collections.js';
import { readPages, readWithRetries } from './read-pages.js';
import type { AuditRead, FindingLog, OnPart } from './ledger-report.js';
import { describeValue } from './read-document.js';

const entriesPerChunk = 1_000;
const lateNamedMax = 20;

/**
 * Checks the audit log against its rows in closed days. Reports each entry that was changed or
 * removed after the close of its day, and each that this close lacks. The root protects the rows
 * themselves (check-closes.ts).
 *
 * Days closed before such rows existed are skipped and prove nothing.
 */
export async function checkAudit(log: FindingLog, last: ClosedDay, onPart: OnPart): Promise<AuditRead> {
  const found: AuditRead = { entries: 0, late: 0, lateIds: [] };
  if (!last.content.audit) {
    log.leaveOut('audit');
    return found;
  }
  await checkTimes(log);
  const first = await auditCloses.find().sort({ day: 1 }).limit(1).next();
  const rows = readPages<AuditClose>((row) => [
    ...(row ? [auditCloses.find({ day: row.day, _id: { $gt: row._id } }).sort({ day: 1, _id: 1 })] : []),
    auditCloses.find({ day: { $gt: row?.day ?? '', $lte: last._id } }).sort({ day: 1, _id: 1 }),
  ]);
  for await (const chunk of collectChunks(rows, entriesPerChunk)) {
    await checkCovered(log, chunk, { found, firstDay: first?.day ?? '' });
    onPart();
  }
  const next = addDays(last._id, 1);
  const closed = dayCloses.find({
    _id: { $lte: last._id },
    'content.audit': { $ne: null },
  } as Filter<DayClose>);
  // The day after the last closed one may be in the process of being closed.
  const days = new Set([
    ...(await readWithRetries(() => closed.clone().project<{ _id: string }>({ _id: 1 }).toArray())).map(
      ({ _id }) => _id,
    ),
    next,
  ]);
  const uncovered = await readWithRetries(() => findUncoveredIds(getStartOfDay(next), days, onPart));
  uncovered.forEach((id) => {
    addFinding(
      log,
      id,
      'it did not exist when its day was closed: it was inserted later, or it has a wrong time and the next close covers it as late',
    );
  });
  return found;
}

/** Reports changed and removed entries. */
async function checkCovered(
  log: FindingLog,
  rows: AuditClose[],
  { found, firstDay }: { found: AuditRead; firstDay: string },
): Promise<void> {
  const entries = await auditEntries
    .find<Document>({ _id: { $in: rows.map(({ _id }) => _id) } }, auditReadOptions)
    .toArray();
  const entryOf = new Map(entries.map((entry) => [String(entry['_id']), entry]));
  for (const { _id, day, hash } of rows) {
    const entry = entryOf.get(_id);
    found.entries += 1;
    if (!entry) {
      addFinding(log, _id, `it was removed after ${day} was closed`);
    } else if (hashAuditEntry(entry) !== hash) {
      addFinding(log, _id, `it was changed after ${day} was closed`);
    } else if (day !== firstDay && entry['at'] < getStartOfDay(day)) {
      found.late += 1;
      if (found.lateIds.length < lateNamedMax) {
        found.lateIds.push(_id);
      }
    }
  }
}

/**
 * Finds entries of closed days that no close covers. Rows of a day that was never closed are
 * ignored. The scan can safely restart from the beginning.
 */
async function findUncoveredIds(end: Date, days: ReadonlySet<string>, onPart: OnPart): Promise<string[]> {
  const entries = auditEntries.find({ at: { $lt: end } }, { projection: { _id: 1 } }).sort({ at: 1 });
  const found: string[] = [];
  for await (const chunk of collectChunks(entries, entriesPerChunk)) {
    const ids = chunk.map(({ _id }) => _id);
    const known = await auditCloses.find({ _id: { $in: ids } }, { projection: { day: 1 } }).toArray();
    const covered = new Set(known.filter(({ day }) => days.has(day)).map(({ _id }) => _id));
    found.push(...ids.filter((id) => !covered.has(id)));
    onPart();
  }
  return found;
}

/**
 * Reports entries without a valid time, which no close would cover. They sort before or after all
 * valid times.
 */
async function checkTimes(log: FindingLog): Promise<void> {
  for (const direction of [1, -1] as const) {
    const [end] = await auditEntries
      .find<Document>({}, auditReadOptions)
      .sort({ at: direction })
      .limit(1)
      .toArray();
    if (end && !(end['at'] instanceof Date)) {
      addFinding(log, String(end['_id']), `its time is ${describeValue(end['at'])}`);
    }
  }
}

function addFinding(log: FindingLog, id: string, message: string): void {
  log.add({ check: 'audit', subject: `audit entry ${id}`, message });
}
