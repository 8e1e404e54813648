import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../../database/typed-collection.js';
import type { LedgerSums } from './wallet-close.model.js';

/** The entries of the audit log that a day's close covers. */
export interface DayAudit {
  entries: number;
  /** SHA-256 over their ids and hashes, in the order of the ids. */
  hash: string;
}

/** What one root stands for. */
export interface DayRoot {
  /** Rows of wallets, and their journals. */
  wallets: number;
  journals: number;
  /** Of all that was ever closed, this day included. Rupiah. */
  totals: LedgerSums;
  /** SHA-256 over the hashes of the day's rows, in the order of their wallets. */
  walletsHash: string;
  /** Not in days that were closed before the audit log was. */
  audit?: DayAudit;
  /** The root of the closed day before; null for the first. */
  previous: string | null;
  closedAt: Date;
}

/** Ed25519 over the root. */
export interface Signature {
  /** SPKI, DER, base64. */
  publicKey: string;
  /** base64 */
  value: string;
}

/**
 * A business day. While `building`, rows of wallets are added to it, by one process or several; `closed` is one
 * conditional write that no row may come after.
 */
export interface DayClose {
  /** YYYY-MM-DD, business time. */
  _id: string;
  state: 'building' | 'closed';
  /** Rises with every batch of rows, so that no root is made of fewer than there are. */
  batches: number;
  content: DayRoot | null;
  /** SHA-256 over the day and `content`: the one line to keep elsewhere. */
  root: string | null;
  /** Null where no key was configured. */
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
