import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../../database/typed-collection.js';
import type { LedgerSums } from './wallet-close.model.js';

/** The entries of the audit log that a day's close covers. */
export interface DayAudit {
  entries: number;
  /** SHA-256 of the ids and hashes of these entries, in the order of the ids. */
  hash: string;
}

/** The content of a day's root. */
export interface DayRoot {
  /** Number of wallet rows. */
  wallets: number;
  /** Number of journals that these rows cover. */
  journals: number;
  /** Sums in rupiah over all closed days, including this one. */
  totals: LedgerSums;
  /** SHA-256 of the hashes of the day's rows, in the order of their wallets. */
  walletsHash: string;
  /** Absent in days closed before the audit log was covered. */
  audit?: DayAudit;
  /** Root of the previous closed day. Null for the first closed day. */
  previous: string | null;
  closedAt: Date;
}

/** Ed25519 signature of the root. */
export interface Signature {
  /** SPKI, DER, base64. */
  publicKey: string;
  /** The signature in base64. */
  value: string;
}

/**
 * The close of a business day. While it is `building`, one or several processes add wallet rows.
 * One conditional write changes it to `closed`. After that, no row may be added.
 */
export interface DayClose {
  /** YYYY-MM-DD, business time. */
  _id: string;
  state: 'building' | 'closed';
  /**
   * Incremented with every batch of rows. The write that closes the day expects this number, so no
   * root misses a concurrent batch.
   */
  batches: number;
  content: DayRoot | null;
  /** SHA-256 of the day and `content`. Keep a copy outside the database. */
  root: string | null;
  /** Null if no key was configured. */
  signature: Signature | null;
}

const content = new Schema<DayRoot>(
  {
    wallets: Number,
    journals: Number,
    totals: Schema.Types.Mixed,
    walletsHash: String,
    audit: new Schema<DayAudit>({ entries: Number, hash: String }, { _id: false }),
    previous: { type: String, default: null },
    closedAt: Date,
  },
  { _id: false },
);

const schema = new Schema<DayClose>(
  {
    _id: { type: String, required: true },
    state: { type: String, required: true },
    batches: { type: Number, required: true },
    content: { type: content, default: null },
    root: { type: String, default: null },
    signature: {
      type: new Schema<Signature>({ publicKey: String, value: String }, { _id: false }),
      default: null,
    },
  },
  { collection: 'dayCloses', versionKey: false },
);
schema.index({ root: 1 }, { partialFilterExpression: { root: { $type: 'string' } }, name: 'root' });

export const DayCloseModel = mongoose.model('DayClose', schema);
export const dayCloses = getCollection<DayClose>(DayCloseModel);
