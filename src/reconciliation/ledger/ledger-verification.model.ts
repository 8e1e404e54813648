import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../../database/typed-collection.js';
import type { LedgerCheck, LedgerFinding } from './ledger-report.js';

/** The result of a scheduled verification. A later run of the same business day replaces it. */
export interface LedgerVerification {
  /** YYYY-MM-DD in business time. */
  _id: string;
  /** When the verification ended. */
  at: Date;
  durationMs: number;
  ok: boolean;
  /** Number of failures over all checks. */
  failures: number;
  /** Checks that failed. */
  checks: { check: LedgerCheck; failures: number }[];
  /** Rules that were not checked. */
  notChecked: LedgerCheck[];
  /** The first findings. `topup ledger verify` prints all findings. */
  findings: LedgerFinding[];
}

const schema = new Schema<LedgerVerification>(
  {
    _id: { type: String, required: true },
    at: { type: Date, required: true },
    durationMs: { type: Number, required: true },
    ok: { type: Boolean, required: true },
    failures: { type: Number, required: true },
    checks: { type: Schema.Types.Mixed, required: true },
    notChecked: { type: [String], default: undefined },
    findings: { type: Schema.Types.Mixed, required: true },
  },
  { collection: 'ledgerVerifications', versionKey: false },
);

export const ledgerVerifications = getCollection<LedgerVerification>(
  mongoose.model('LedgerVerification', schema),
);
