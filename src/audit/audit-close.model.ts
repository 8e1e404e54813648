import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../database/typed-collection.js';

/**
 * Proof that an audit entry existed when a day was closed. The close writes it once, with the
 * entry's hash.
 */
export interface AuditClose {
  /** Id of the audit entry. */
  _id: string;
  /**
   * Business day of the close, YYYY-MM-DD. It is the day of the entry, or a later one if the entry
   * was committed late.
   */
  day: string;
  /** SHA-256 of the entry (`auditEntryHash`). */
  hash: string;
}

const schema = new Schema<AuditClose>(
  {
    _id: { type: String, required: true },
    day: { type: String, required: true },
    hash: { type: String, required: true },
  },
  { collection: 'auditCloses', versionKey: false },
);
schema.index({ day: 1, _id: 1 }, { name: 'day_entries' });

export const AuditCloseModel = mongoose.model('AuditClose', schema);
export const auditCloses = getCollection<AuditClose>(AuditCloseModel);
