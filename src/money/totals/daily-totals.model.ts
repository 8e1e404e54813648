import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../../database/typed-collection.js';

/** Counters, nested by the steps of their paths. */
export interface StoredCounters {
  [field: string]: number | StoredCounters;
}

/**
 * An account's totals for one business day, updated with each posting. They are the sum of several
 * documents: the base, and one document for each slot written since the base.
 */
export interface DailyTotals {
  /** The result of `getTotalsId`, which sorts by account, then by day. */
  _id: string;
  accountId: string;
  /** YYYY-MM-DD in business time. */
  day: string;
  /**
   * The slot of this document (slots.ts), which is the first field of the shard key. Null for the
   * base, which only folding and rebuilding write.
   */
  slot: number | null;
  /** Stored as int64. */
  counters: StoredCounters;
  /** Set only in a base. It is replaced with each change of the base. */
  version?: string;
}

const schema = new Schema<DailyTotals>(
  {
    _id: { type: String, required: true },
    accountId: { type: String, required: true },
    day: { type: String, required: true },
    slot: { type: Number, default: null },
    counters: { type: Schema.Types.Mixed, required: true },
    version: { type: String },
  },
  { collection: 'dailyTotals', versionKey: false },
);
// Finds slots to fold. This index never contains bases.
schema.index(
  { day: 1, accountId: 1 },
  { partialFilterExpression: { slot: { $gte: 0 } }, name: 'slots_oldest' },
);

export const dailyTotals = getCollection<DailyTotals>(mongoose.model('DailyTotals', schema));

export function getTotalsId(accountId: string, day: string, slot: number | null): string {
  return `${accountId}|${day}|${slot ?? 'base'}`;
}

/** Returns the range of all documents of an account between two days, inclusive. */
export function buildTotalsRange(accountId: string, from: string, to: string) {
  return { _id: { $gte: `${accountId}|${from}|`, $lt: `${accountId}|${to}|~` } };
}
