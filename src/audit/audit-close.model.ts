import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../database/typed-collection.js';

/** That an entry of the audit log was there when a day was closed, and how it read. Written once, by the close. */
export interface AuditClose {
  /** The entry's. */
  _id: string;
  /** The business day whose close covers it, YYYY-MM-DD: that of the entry, or a later one if it came late. */
  day: string;
  /** SHA-256 over the entry (`auditEntryHash`). */
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
