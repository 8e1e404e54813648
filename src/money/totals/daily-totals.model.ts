import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../../database/typed-collection.js';

/** A document of counters, nested as deep as its paths. */
export interface StoredCounters {
  [field: string]: number | StoredCounters;
}

/**
 * What an account did on one business day, counted while it was written. A day is the sum of its documents: the base,
 * and one for each slot that was written to since the base was made.
 */
export interface DailyTotals {
  /** `idOfTotals`: sorts by account, then by day. */
  _id: string;
  accountId: string;
  /** YYYY-MM-DD in business time. */
  day: string;
  /** Who writes it (slots.ts); it is the shard key's first field. Null: the base, which only folding and rebuilding write. */
  slot: number | null;
  /** int64. */
  counters: StoredCounters;
  /** Of a base: another one with each change. */
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
// What is to be folded; bases are never in it.
schema.index(
  { day: 1, accountId: 1 },
  { partialFilterExpression: { slot: { $gte: 0 } }, name: 'slots_oldest' },
);

export const dailyTotals = getCollection<DailyTotals>(mongoose.model('DailyTotals', schema));

export function getTotalsId(accountId: string, day: string, slot: number | null): string {
  return `${accountId}|${day}|${slot ?? 'base'}`;
}

/** All documents of an account between two days, both included. */
export function buildTotalsRange(accountId: string, from: string, to: string) {
  return { _id: { $gte: `${accountId}|${from}|`, $lt: `${accountId}|${to}|~` } };
}
