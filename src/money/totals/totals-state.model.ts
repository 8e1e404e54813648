import mongoose, { Schema } from 'mongoose';
import { env } from '../../../config/env.js';
import { limits } from '../../../config/limits.js';
import { getCollection } from '../../database/typed-collection.js';
import { now } from '../../shared/clock.js';

/**
 * This document exists once the totals cover the whole history. Until then, history is counted from
 * rows.
 */
interface TotalsState {
  _id: 'complete';
  /** Time zone of the days. Another BUSINESS_TIMEZONE invalidates the totals. */
  timezone: string;
  completeSince: Date;
}

const schema = new Schema<TotalsState>(
  {
    _id: { type: String, required: true },
    timezone: { type: String, required: true },
    completeSince: { type: Date, required: true },
  },
  { collection: 'totalsState', versionKey: false },
);

const totalsStates = getCollection<TotalsState>(mongoose.model('TotalsState', schema));

/** Time until which the cached result is valid, on the monotonic clock of this process. */
let cachedUntilMs = -Infinity;

/** True if the totals may be read instead of the rows. */
export async function areTotalsComplete(): Promise<boolean> {
  const atMs = performance.now();
  if (atMs < cachedUntilMs) {
    return true;
  }
  const isComplete =
    (await totalsStates.findOne({ _id: 'complete', timezone: env.BUSINESS_TIMEZONE })) !== null;
  cachedUntilMs = isComplete ? atMs + limits.cacheDeafMs : -Infinity;
  return isComplete;
}

export async function setTotalsComplete(): Promise<void> {
  const timezone = env.BUSINESS_TIMEZONE;
  await totalsStates.updateOne(
    { _id: 'complete' },
    { $set: { timezone, completeSince: now() } },
    { upsert: true },
  );
}
