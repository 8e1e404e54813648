import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../database/typed-collection.js';

/** An active or recently ended alarm, and whether its notification was accepted. */
export interface StoredAlarm {
  /** Name of the alarm and its subject. */
  _id: string;
  since: Date;
  /** Absent if the alarm began under an earlier release. */
  severity?: 'page' | 'ticket';
  /**
   * Last time the condition was true, for alarms that end with a delay. Null for alarms that end at
   * once.
   */
  seenAt: Date | null;
  /** True once the receiver has accepted the notification. */
  told: boolean;
  /** Until this time, one process has the exclusive right to send the notification. */
  claimedUntil: Date;
  /**
   * Why the receiver did not accept the last message. Null if it accepted the message or if none
   * was sent yet.
   */
  refusal?: string | null;
  /**
   * The last message, stored from the first attempt on. The message is still sent if the alarm ends
   * before a receiver accepts it.
   */
  text?: string | null;
  /**
   * Time of the newest figures that contained this alarm's condition. Older figures, which another
   * process may still have, are ignored.
   */
  judgedAtMs?: number;
  /**
   * Set once the alarm has ended and the end was sent. The row is kept for an hour, so that older
   * figures do not start the alarm again.
   */
  endedAt?: Date | null;
}

const schema = new Schema<StoredAlarm>(
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

/** Id of the alarm that each process detects itself, without the figures of the whole service. */
export const redisDownId = 'TopupRedisDown';

/** Filter for alarms that have not ended. */
export const activeAlarmFilter = { endedAt: null };

export const storedAlarms = getCollection<StoredAlarm>(mongoose.model('StandingAlarm', schema));
