import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../database/typed-collection.js';

/** Counters of five minutes by their names, and the last of each value that is no count. */
export type Slot = Record<string, number>;

/** Something that happened once, such as a circuit that opened. */
export interface SampledEvent {
  at: Date;
  what: string;
  because: string | null;
}

/**
 * What was counted about one subject in one hour, for the plots of the console alone: what a process had not written yet when it
 * was killed is missing, so nothing is decided by it (decision 055).
 */
export interface SampleHour {
  /** The subject, and the hour as `2026-11-23T04` (UTC). */
  _id: string;
  from: Date;
  /** By the number of the five minutes in the hour, 0 to 11. */
  slots?: Record<string, Slot>;
  /** The last of the hour. */
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

/** The hours of a subject by their ids. */
export function sampleId(subject: string, atMs: number): string {
  return `${subject} ${new Date(atMs).toISOString().slice(0, 'YYYY-MM-DDTHH'.length)}`;
}
