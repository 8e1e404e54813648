import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../../database/typed-collection.js';

/** Counters, nested along the steps of their paths. */
export interface StoredCounters {
  [field: string]: number | StoredCounters;
}

/**
 * An account's totals of one business day, updated with each posting. A day is the sum of its
 * documents: the base, and one for each slot written since the base.
 */
export interface DailyTotals {
  /** `getTotalsId`: sorts by account, then by day. */
  _id: string;
  accountId: string;
  /** YYYY-MM-DD in business time. */
  day: string;
  /**
   * The slot that writes it (slots.ts), first field of the shard key. Null: the base, which only
   * folding and rebuilding write.
   */
  slot: number | null;
  /** Stored as int64. */
  counters: StoredCounters;
  /** Of a base: replaced with each change. */
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
// Slots to fold. Bases are never in this index.
schema.index(
  { day: 1, accountId: 1 },
  { partialFilterExpression: { slot: { $gte: 0 } }, name: 'slots_oldest' },
);

export const dailyTotals = getCollection<DailyTotals>(mongoose.model('DailyTotals', schema));

export function getTotalsId(accountId: string, day: string, slot: number | null): string {
  return `${accountId}|${day}|${slot ?? 'base'}`;
}

/** Returns the range of all documents of an account between two days, both included. */
export function buildTotalsRange(accountId: string, from: string, to: string) {
  return { _id: { $gte: `${accountId}|${from}|`, $lt: `${accountId}|${to}|~` } };
}
