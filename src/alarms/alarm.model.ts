import mongoose, { Schema } from 'mongoose';
import { collectionOf } from '../database/typed-collection.js';

/** An alarm that stands, and whether somebody was told. Gone when it is over, and that was told. */
export interface StandingAlarm {
  /** The alert's name, and what it is about. */
  _id: string;
  since: Date;
  /** When it was so last, where that is kept; null: its end is told at once. */
  seenAt: Date | null;
  /** The receiver has taken it. */
  told: boolean;
  /** Until then one process is telling it. */
  claimedUntil: Date;
}

const schema = new Schema<StandingAlarm>(
  {
    _id: { type: String, required: true },
    since: { type: Date, required: true },
    seenAt: { type: Date, default: null },
    told: { type: Boolean, required: true },
    claimedUntil: { type: Date, required: true },
  },
  { collection: 'alarms', versionKey: false },
);

export const standingAlarms = collectionOf<StandingAlarm>(mongoose.model('StandingAlarm', schema));
