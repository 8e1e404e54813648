import { now } from '../shared/clock.js';
import { newId } from '../shared/ids.js';
import { redact } from '../shared/logger.js';
import type { Session } from '../database/mongo.js';
import { AuditModel, auditEntries, type AuditEntry } from './audit.model.js';

/** The author of a change, the author's address (null on the machine itself) and the reason. */
export type ChangedBy = Pick<AuditEntry, 'actor' | 'from' | 'reason'>;

export const bySystem: ChangedBy = { actor: 'system', from: null, reason: null };

export type NewAuditEntry = Pick<AuditEntry, 'actor' | 'action' | 'subject'> &
  Partial<Pick<AuditEntry, 'before' | 'after' | 'from' | 'reason'>>;

/**
 * Returns the entry for a posting's `inserts`. Keys, secrets and passwords in `before` and `after`
 * are masked.
 */
export function buildAuditEntryInsert(entry: NewAuditEntry): { collection: string; document: AuditEntry } {
  return { collection: auditEntries.collectionName, document: buildAuditEntry(entry) };
}

/** Like `buildAuditEntryInsert`, for an entry that depends on the wallet after the posting. */
export function buildAuditInsertAfter<After>(entryOf: (after: After) => NewAuditEntry): {
  collection: string;
  documentAfter: (after: After) => AuditEntry;
} {
  return {
    collection: auditEntries.collectionName,
    documentAfter: (after) => buildAuditEntry(entryOf(after)),
  };
}

/**
 * Appends an entry to the audit log. Keys, secrets and passwords in `before` and `after` are
 * masked.
 * @param session The database transaction of the change, so that both commit together. Null only if
 * the change is not in this database (a queue in Redis).
 */
export async function recordAudit(session: Session | null, entry: NewAuditEntry): Promise<void> {
  await AuditModel.create([buildAuditEntry(entry)], session ? { session } : {});
}

/** Like `recordAudit`, for many entries. */
export async function recordAudits(session: Session, entries: NewAuditEntry[]): Promise<void> {
  await AuditModel.insertMany(entries.map(buildAuditEntry), { session });
}

function buildAuditEntry(entry: NewAuditEntry): AuditEntry {
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
