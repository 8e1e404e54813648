import mongoose, { Schema, type Query } from 'mongoose';
import { getCollection } from '../database/typed-collection.js';

/** The changed object, such as `{kind: 'account', id: …}`. */
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

/** Subject id for changes that concern all objects of a kind: an exported list, the queues. */
export const allOfKind = 'all';

/** An audit entry: who changed what, when, from where, and why. Entries are append-only. */
export interface AuditEntry {
  _id: string;
  at: Date;
  /**
   * `account:<username>`, `operator:<username>` (console, or CLI with a key), `cli:<system user>`,
   * `payments` (a signed notification), `anonymous` (a refused login), or `system`.
   */
  actor: string;
  /** The action, such as `account.suspend` or `config.update`. */
  action: string;
  subject: AuditSubject;
  /** Changed fields before the change. Null for a new subject. Secrets are masked. */
  before: unknown;
  /** The same fields after the change. Null if the subject is gone. Secrets are masked. */
  after: unknown;
  /** Address of the caller. Null for the CLI on the machine itself. */
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

// Entries must stay immutable, or the log proves nothing.
schema.pre(
  /^(update|replace|delete|findOneAnd)/,
  { query: true, document: true },
  function refuse(this: Query<unknown, AuditEntry> | mongoose.Document) {
    throw new Error('Audit entries cannot be changed or deleted');
  },
);

export const AuditModel = mongoose.model('AuditEntry', schema);
/** For reads only: the raw collection does not refuse changes. */
export const auditEntries = getCollection<AuditEntry>(AuditModel);
