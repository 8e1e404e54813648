import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../../database/typed-collection.js';
import type { LedgerCheck, LedgerFinding } from './ledger-report.js';

/** What a verification by the clock came to. One row a business day; a later one of the day takes its place. */
export interface LedgerVerification {
  /** YYYY-MM-DD, business time. */
  _id: string;
  /** When it ended. */
  at: Date;
  durationMs: number;
  ok: boolean;
  /** Of all checks. */
  failures: number;
  /** Those that failed. */
  checks: { check: LedgerCheck; failures: number }[];
  /** Rules that it has not looked at. */
  notChecked: LedgerCheck[];
  /** The first of them. `topup ledger verify` tells all. */
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
