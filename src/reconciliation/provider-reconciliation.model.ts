import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../database/typed-collection.js';
import type { Difference } from './reconcile-provider.js';

/**
 * Result of comparing a provider's record with ours for one business day. A later comparison
 * replaces it.
 */
export interface ProviderReconciliation {
  /** `<seller>:<YYYY-MM-DD>` in business time. */
  _id: string;
  sellerId: string;
  date: string;
  /** Time of the last comparison. */
  at: Date;
  /** Actor of the last comparison. `system` is the scheduled job. */
  by: string;
  ours: number;
  theirs: number;
  matched: number;
  /** Number of differences. */
  different: number;
  /** The first differences. `topup reconcile` prints all of them. */
  differences: Difference[];
  /**
   * Set once a person has accepted the differences. The job then skips the day, and the alarm ends.
   */
  accepted: { by: string; reason: string; at: Date; different: number } | null;
}

const schema = new Schema<ProviderReconciliation>(
  {
    _id: { type: String, required: true },
    sellerId: { type: String, required: true },
    date: { type: String, required: true },
    at: { type: Date, required: true },
    by: { type: String, required: true },
    ours: { type: Number, required: true },
    theirs: { type: Number, required: true },
    matched: { type: Number, required: true },
    different: { type: Number, required: true },
    differences: { type: Schema.Types.Mixed, required: true },
    accepted: { type: Schema.Types.Mixed, default: null },
  },
  { collection: 'providerReconciliations', versionKey: false },
);

export const providerReconciliations = getCollection<ProviderReconciliation>(
  mongoose.model('ProviderReconciliation', schema),
);

/** True if the day has differences that no person has accepted. */
export function hasUnacceptedDifferences({ different, accepted }: ProviderReconciliation): boolean {
  return different > 0 && accepted === null;
}
