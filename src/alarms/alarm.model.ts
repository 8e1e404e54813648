import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../database/typed-collection.js';

/** An alarm, and whether somebody was told. */
export interface StandingAlarm {
  /** The alert's name, and what it is about. */
  _id: string;
  since: Date;
  /** Absent in one that a release without it began. */
  severity?: 'page' | 'ticket';
  /** When it was so last, where that is kept; null: its end is told at once. */
  seenAt: Date | null;
  /** The receiver has taken it. */
  told: boolean;
  /** Until then one process is telling it. */
  claimedUntil: Date;
  /** Why the receiver did not take what was said last; null: it took it, or was not told anything yet. */
  refusal?: string | null;
  /** The message about it, from the first try on: what is not so any more, and could not be told, is told as it was. */
  text?: string | null;
  /** The newest figures that said anything of it: older ones, which another process still has, are not believed. */
  judgedAtMs?: number;
  /** Over, and told: kept for an hour, so that older figures do not begin it anew. */
  endedAt?: Date | null;
}

const schema = new Schema<StandingAlarm>(
  {
    _id: { type: String, required: true },
    since: { type: Date, required: true },
    severity: { type: String },
    seenAt: { type: Date, default: null },
    told: { type: Boolean, required: true },
    claimedUntil: { type: Date, required: true },
    refusal: { type: String },
    text: { type: String },
    judgedAtMs: { type: Number },
    endedAt: { type: Date },
  },
  { collection: 'alarms', versionKey: false },
);
schema.index({ endedAt: 1 }, { name: 'ended_expires', expireAfterSeconds: 3_600 });

/** The one of them that a process has seen itself, not in the figures of the fleet. */
export const redisDownId = 'TopupRedisDown';

/** Those that are not over. */
export const isStanding = { endedAt: null };

export const standingAlarms = getCollection<StandingAlarm>(mongoose.model('StandingAlarm', schema));
