import type { Collection, Document } from 'mongodb';
import { adjustments } from '../../adjustments/adjustment.model.js';
import { allOfKind, auditEntries, type AuditSubject } from '../../audit/audit.model.js';
import { asUntyped, type AnyDocument } from '../../database/typed-collection.js';
import { deposits } from '../../deposits/deposit.model.js';
import { purchases } from '../../purchases/purchase.model.js';
import { settlements } from '../../settlements/settlement.model.js';
import { getStartOfDay } from '../../shared/business-time.js';
import { groupBy, collectChunks } from '../../shared/collections.js';
import type { FindingLog, Part } from './ledger-report.js';
import { readWithRetries } from './read-pages.js';

const batchSize = 1_000;
/** Maximum number of missing subjects per run when entries are read by time. It limits memory. */
const missingMax = 10_000;

/** Kinds of subjects in the audit log, with their collections. */
const auditedSubjects: { kind: AuditSubject['kind']; collection: Collection<AnyDocument> }[] = [
  { kind: 'deposit', collection: asUntyped(deposits) },
  { kind: 'settlement', collection: asUntyped(settlements) },
  { kind: 'transaction', collection: asUntyped(purchases) },
  { kind: 'adjustment', collection: asUntyped(adjustments) },
];

/**
 * Checks that every subject of the audit log exists. If somebody deletes a deposit with its journal
 * and resets the wallet, no other rule notices. Without an audit entry, only the daily close
 * detects it.
 *
 * No second read is needed, because an entry is written after its subject.
 */
export async function checkAuditedDocuments(log: FindingLog, { fromDay, onPart }: Part): Promise<void> {
  if (fromDay !== null) {
    const missing = await readWithRetries(() => findMissingSince(getStartOfDay(fromDay), onPart));
    missing.forEach((subject) => {
      addFinding(log, subject);
    });
    return;
  }
  for (const { kind, collection } of auditedSubjects) {
    let last = '';
    for (let ids = await readAuditedIds(kind, last); ids.length > 0; ids = await readAuditedIds(kind, last)) {
      last = ids.at(-1) ?? '';
      (await findMissing(collection, ids)).forEach((id) => {
        addFinding(log, `${kind} ${id}`);
      });
      onPart();
    }
  }
}

function addFinding(log: FindingLog, subject: string): void {
  log.add({ check: 'vouched', subject, message: 'the audit log mentions it, but it does not exist' });
}

async function findMissing(collection: Collection<AnyDocument>, ids: string[]): Promise<string[]> {
  const found = await readWithRetries(() =>
    collection.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray(),
  );
  // The entry for an exported list names no single subject.
  const known = new Set([allOfKind, ...found.map((each) => each._id)]);
  return [...new Set(ids)].filter((id) => !known.has(id));
}

/**
 * Finds missing subjects by the time of their entries. The index does not order entries with equal
 * times, so a lost cursor cannot be resumed. The scan can safely restart (decision 014).
 */
async function findMissingSince(since: Date, onPart: () => void): Promise<Set<string>> {
  const missing = new Set<string>();
  const entries = auditEntries
    .find<Document>({ at: { $gte: since } }, { projection: { _id: 0, subject: 1 } })
    .sort({ at: 1 });
  for await (const chunk of collectChunks(entries, batchSize)) {
    const byKind = groupBy(chunk, ({ subject }) => String((subject as Document | null)?.['kind']));
    for (const { kind, collection } of auditedSubjects) {
      const ids = (byKind.get(kind) ?? []).map(({ subject }) => String((subject as Document)['id']));
      const absent = ids.length > 0 ? await findMissing(collection, ids) : [];
      absent.slice(0, missingMax - missing.size).forEach((id) => missing.add(`${kind} ${id}`));
    }
    onPart();
  }
  return missing;
}

/** Reads the next subjects of a kind. A subject appears once per entry in this batch. */
async function readAuditedIds(kind: AuditSubject['kind'], after: string): Promise<string[]> {
  const filter = { 'subject.kind': kind, 'subject.id': { $gt: after } };
  const found: Document[] = await readWithRetries(() =>
    auditEntries
      .find(filter, { projection: { 'subject.id': 1 }, batchSize: batchSize + 1 })
      .sort({ 'subject.id': 1 })
      .limit(batchSize)
      .toArray(),
  );
  return found.map(({ subject }) => String((subject as Document)['id']));
}
