import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../database/typed-collection.js';

/** Counters of five minutes by name, and the last value of each gauge. */
export type Slot = Record<string, number>;

/** A single event, such as the opening of a circuit breaker. */
export interface SampledEvent {
  at: Date;
  what: string;
  because: string | null;
}

/**
 * Samples of one subject in one hour, for charts only. A killed process loses its unwritten
 * samples, so decisions must not depend on them (decision 055).
 */
export interface SampleHour {
  /** Subject and hour, such as `2026-11-23T04` (UTC). */
  _id: string;
  from: Date;
  /** By the number of the five-minute slot in the hour, 0 to 11. */
  slots?: Record<string, Slot>;
  /** The newest events of the hour. */
  events?: SampledEvent[];
}

export const slotMs = 300_000;
export const hourMs = 3_600_000;
const keptDays = 40;

const schema = new Schema<SampleHour>(
  {
    _id: { type: String, required: true },
    from: { type: Date, required: true },
    slots: { type: Schema.Types.Mixed },
    events: { type: Schema.Types.Mixed },
  },
  { collection: 'samples', versionKey: false },
);
schema.index({ from: 1 }, { name: 'from_expires', expireAfterSeconds: keptDays * 86_400 });

export const samples = getCollection<SampleHour>(mongoose.model('SampleHour', schema));

/** Returns the id of a subject's hour. */
export function getSampleId(subject: string, atMs: number): string {
  return `${subject} ${new Date(atMs).toISOString().slice(0, 'YYYY-MM-DDTHH'.length)}`;
}
