import { now } from '../shared/clock.js';
import { newId } from '../shared/ids.js';
import { redact } from '../shared/logger.js';
import type { Session } from '../database/mongo.js';
import { AuditModel, type AuditEntry } from './audit.model.js';

/** Who makes a change, from which address (null: on the machine itself), and why. */
export type ChangedBy = Pick<AuditEntry, 'actor' | 'from' | 'reason'>;

export const bySystem: ChangedBy = { actor: 'system', from: null, reason: null };

export type NewAuditEntry = Pick<AuditEntry, 'actor' | 'action' | 'subject'> &
  Partial<Pick<AuditEntry, 'before' | 'after' | 'from' | 'reason'>>;

/**
 * Appends to the audit log who changed what. Keys, secrets and passwords in `before` and `after` are masked.
 * @param session The database transaction of the change, so that neither exists without the other; null only
 * where the change is not in this database (a queue in Redis).
 */
export async function recordAudit(session: Session | null, entry: NewAuditEntry): Promise<void> {
  const { before = null, after = null, from = null, reason = null } = entry;
  await AuditModel.create(
    [
      {
        _id: newId(),
        at: now(),
        actor: entry.actor,
        action: entry.action,
        subject: entry.subject,
        before: redact(before),
        after: redact(after),
        from,
        reason,
      },
    ],
    session ? { session } : {},
  );
}
