import { now } from '../shared/clock.js';
import { newId } from '../shared/ids.js';
import { redact } from '../shared/logger.js';
import type { Session } from '../database/mongo.js';
import { AuditModel, audit, type AuditEntry } from './audit.model.js';

/** Who makes a change, from which address (null: on the machine itself), and why. */
export type ChangedBy = Pick<AuditEntry, 'actor' | 'from' | 'reason'>;

export const bySystem: ChangedBy = { actor: 'system', from: null, reason: null };

export type NewAuditEntry = Pick<AuditEntry, 'actor' | 'action' | 'subject'> &
  Partial<Pick<AuditEntry, 'before' | 'after' | 'from' | 'reason'>>;

/** The entry for a posting's `inserts`. Keys, secrets and passwords in `before` and `after` are masked. */
export function auditInsert(entry: NewAuditEntry): { collection: string; document: AuditEntry } {
  return { collection: audit.collectionName, document: auditEntry(entry) };
}

/** As `auditInsert`, for an entry that tells what the posting did to the wallet. */
export function auditInsertAfter<After>(entryOf: (after: After) => NewAuditEntry): {
  collection: string;
  documentAfter: (after: After) => AuditEntry;
} {
  return { collection: audit.collectionName, documentAfter: (after) => auditEntry(entryOf(after)) };
}

/**
 * Appends to the audit log who changed what. Keys, secrets and passwords in `before` and `after` are masked.
 * @param session The database transaction of the change, so that neither exists without the other; null only
 * where the change is not in this database (a queue in Redis).
 */
export async function recordAudit(session: Session | null, entry: NewAuditEntry): Promise<void> {
  await AuditModel.create([auditEntry(entry)], session ? { session } : {});
}

/** As `recordAudit`, of many at once. */
export async function recordAudits(session: Session, entries: NewAuditEntry[]): Promise<void> {
  await AuditModel.insertMany(entries.map(auditEntry), { session });
}

function auditEntry(entry: NewAuditEntry): AuditEntry {
  const { before = null, after = null, from = null, reason = null } = entry;
  return {
    _id: newId(),
    at: now(),
    actor: entry.actor,
    action: entry.action,
    subject: entry.subject,
    before: redact(before),
    after: redact(after),
    from,
    reason,
  };
}
