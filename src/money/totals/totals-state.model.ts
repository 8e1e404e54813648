import mongoose, { Schema } from 'mongoose';
import { env } from '../../../config/env.js';
import { limits } from '../../../config/limits.js';
import { getCollection } from '../../database/typed-collection.js';
import { now } from '../../shared/clock.js';

/** Stands once the totals hold the whole history; until then it has to be counted. */
interface TotalsState {
  _id: 'complete';
  /** Whose days they are. Another BUSINESS_TIMEZONE has other days. */
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

const states = getCollection<TotalsState>(mongoose.model('TotalsState', schema));

/** Until when this process need not ask again, by its own clock. */
let knownUntilMs = -Infinity;

/** Whether the totals may be read in place of the rows. */
export async function areTotalsComplete(): Promise<boolean> {
  const atMs = performance.now();
  if (atMs < knownUntilMs) {
    return true;
  }
  const isComplete = (await states.findOne({ _id: 'complete', timezone: env.BUSINESS_TIMEZONE })) !== null;
  knownUntilMs = isComplete ? atMs + limits.cacheDeafMs : -Infinity;
  return isComplete;
}

export async function setTotalsComplete(): Promise<void> {
  const timezone = env.BUSINESS_TIMEZONE;
  await states.updateOne({ _id: 'complete' }, { $set: { timezone, completeSince: now() } }, { upsert: true });
}
