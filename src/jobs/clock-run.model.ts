import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../database/typed-collection.js';
import { now } from '../shared/clock.js';

/** When work by the clock was last done, and what it came to. One row a job; that of shorter periods is not kept. */
export interface ClockRun {
  /** The job's name. */
  _id: string;
  /** When it ended. */
  at: Date;
  durationMs: number;
  /** Words and numbers, as its handler says; null: it says nothing, or another process was at it. */
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

/** Sweeps come every few seconds, and what they leave undone shows as late work: theirs is not kept. */
const keptFromMs = 300_000;

/** Keeps that work by the clock was done. @param came What its handler has returned. */
export async function keepClockRun(
  { name, clock }: { name: string; clock?: { everyMs: number } },
  came: unknown,
  durationMs: number,
): Promise<void> {
  if (!clock || clock.everyMs < keptFromMs) {
    return;
  }
  const did = typeof came === 'object' ? (came as Record<string, number> | null) : null;
  await clockRuns.updateOne(
    { _id: name },
    { $set: { at: now(), durationMs: Math.round(durationMs), did } },
    { upsert: true },
  );
}

/** By job name. */
export async function lastClockRuns(): Promise<ClockRun[]> {
  return clockRuns.find().sort({ _id: 1 }).limit(100).toArray();
}
