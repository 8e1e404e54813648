import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../database/typed-collection.js';
import { now } from '../shared/clock.js';

/**
 * The last run of a scheduled job and its result, one row per job. Jobs that run more often than
 * `recordedPeriodMinMs` are not recorded.
 */
export interface ClockRun {
  /** The job's name. */
  _id: string;
  /** Time at which the run ended. */
  at: Date;
  durationMs: number;
  /**
   * Named counts that the handler returned. Null if it returned nothing, or if another process held
   * the lease of the work.
   */
  did: Record<string, number> | null;
}

const schema = new Schema<ClockRun>(
  {
    _id: { type: String, required: true },
    at: { type: Date, required: true },
    durationMs: { type: Number, required: true },
    did: { type: Schema.Types.Mixed, default: null },
  },
  { collection: 'clockRuns', versionKey: false },
);

const clockRuns = getCollection<ClockRun>(mongoose.model('ClockRun', schema));

/**
 * Minimum period in milliseconds of a recorded job. Sweeps run every few seconds and are not
 * recorded. If they fail, the late work shows it.
 */
const recordedPeriodMinMs = 300_000;

/**
 * Records a run of a scheduled job.
 * @param result The handler's return value.
 */
export async function recordClockRun(
  { name, clock }: { name: string; clock?: { everyMs: number } },
  result: unknown,
  durationMs: number,
): Promise<void> {
  if (!clock || clock.everyMs < recordedPeriodMinMs) {
    return;
  }
  const counts = typeof result === 'object' ? (result as Record<string, number> | null) : null;
  await clockRuns.updateOne(
    { _id: name },
    { $set: { at: now(), durationMs: Math.round(durationMs), did: counts } },
    { upsert: true },
  );
}

/** Returns the last runs, sorted by job name. */
export async function listClockRuns(): Promise<ClockRun[]> {
  return clockRuns.find().sort({ _id: 1 }).limit(100).toArray();
}
