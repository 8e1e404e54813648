import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../database/typed-collection.js';
import type { Difference } from './reconcile-provider.js';

/** What a provider's record came to against ours for one business day. A later comparison of the day takes its place. */
export interface ProviderReconciliation {
  /** `<seller>:<YYYY-MM-DD>`, business time. */
  _id: string;
  sellerId: string;
  date: string;
  /** When it was compared last, and by whom: `system` is the clock. */
  at: Date;
  by: string;
  ours: number;
  theirs: number;
  matched: number;
  /** How many. */
  different: number;
  /** The first of them. `topup reconcile` tells all. */
  differences: Difference[];
  /** A person knows why they differ: the day is not compared again by the clock, and no alarm stands. */
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

/** It waits for a person: something differs, and nobody knows why yet. */
export function isRed({ different, accepted }: ProviderReconciliation): boolean {
  return different > 0 && accepted === null;
}
