import mongoose, { Schema, type Query } from 'mongoose';
import { getCollection } from '../database/typed-collection.js';

/** What was changed: `{kind: 'account', id: …}`. */
export interface AuditSubject {
  kind:
    | 'account'
    | 'api-key'
    | 'deposit'
    | 'bank-line'
    | 'transaction'
    | 'case'
    | 'operator'
    | 'queue'
    | 'provider'
    | 'settlement'
    | 'adjustment'
    | 'product'
    | 'markup'
    | 'price-import'
    | 'delivery'
    | 'report'
    | 'ledger'
    | 'customer'
    | 'holidays'
    | 'encryption-key'
    | 'audit';
  id: string;
}

/** The id of a subject that stands for all of its kind: a list that was exported, the queues. */
export const allOfKind = 'all';

/** Who changed what, when, from where, and why. Append-only: nothing here is ever changed or deleted. */
export interface AuditEntry {
  _id: string;
  at: Date;
  /** `account:<username>`, `operator:<username>` (console, or by their key on the command line), `cli:<system user>`, `payments` (a signed notification), `anonymous` (a login that was refused), or `system`. */
  actor: string;
  /** What was done, such as `account.suspend` or `config.update`. */
  action: string;
  subject: AuditSubject;
  /** The fields that changed, as they were; null where the subject is new. Secrets are masked. */
  before: unknown;
  /** The same fields as they are now; null where the subject is gone. Secrets are masked. */
  after: unknown;
  /** Address of the caller; null where there is none (CLI on the machine itself). */
  from: string | null;
  reason: string | null;
}

const schema = new Schema<AuditEntry>(
  {
    _id: { type: String, required: true },
    at: { type: Date, required: true },
    actor: { type: String, required: true },
    action: { type: String, required: true },
    subject: {
      type: new Schema(
        { kind: { type: String, required: true }, id: { type: String, required: true } },
        { _id: false },
      ),
      required: true,
    },
    before: { type: Schema.Types.Mixed, default: null },
    after: { type: Schema.Types.Mixed, default: null },
    from: { type: String, default: null },
    reason: { type: String, default: null },
  },
  { collection: 'audit', versionKey: false, minimize: false },
);
schema.index({ 'subject.kind': 1, 'subject.id': 1, at: -1 }, { name: 'subject_newest' });
schema.index({ actor: 1, at: -1 }, { name: 'actor_newest' });
schema.index({ at: -1 }, { name: 'newest' });

// A log that could be edited proves nothing.
schema.pre(
  /^(update|replace|delete|findOneAnd)/,
  { query: true, document: true },
  function refuse(this: Query<unknown, AuditEntry> | mongoose.Document) {
    throw new Error('Audit entries are never changed or deleted');
  },
);

export const AuditModel = mongoose.model('AuditEntry', schema);
/** For reading alone: nothing refuses a change here. */
export const audit = getCollection<AuditEntry>(AuditModel);
