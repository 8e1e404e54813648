import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../database/typed-collection.js';

export interface FailedRound {
  at: Date;
  /** Error message with long numbers masked. */
  reason: string;
}

/** A job with consecutive failed rounds. One row per subject. */
export interface FailingJob {
  /** `<job>:<subject>` */
  _id: string;
  queue: string;
  job: string;
  subject: string;
  /** The payload in Redis: ids and a version. With it, a person can run the job again. */
  payload: Record<string, unknown>;
  rounds: number;
  /** Error message of the last round, with long numbers masked. */
  reason: string;
  /** Failed rounds, newest last. At most 20. */
  failures: FailedRound[];
  firstAt: Date;
  lastAt: Date;
  /** When the job was set aside for a person. Null while it is retried automatically. */
  needsPersonSince: Date | null;
}

const schema = new Schema<FailingJob>(
  {
    _id: { type: String, required: true },
    queue: { type: String, required: true },
    job: { type: String, required: true },
    subject: { type: String, required: true },
    payload: { type: Schema.Types.Mixed, required: true },
    rounds: { type: Number, required: true },
    reason: { type: String, required: true },
    failures: { type: [{ _id: false, at: Date, reason: String }], default: undefined },
    firstAt: { type: Date, required: true },
    lastAt: { type: Date, required: true },
    needsPersonSince: { type: Date, default: null },
  },
  { collection: 'failingJobs', versionKey: false },
);
schema.index(
  { needsPersonSince: -1 },
  { partialFilterExpression: { needsPersonSince: { $type: 'date' } }, name: 'needs_person_newest' },
);
schema.index({ lastAt: 1 }, { name: 'last_oldest' });
schema.index({ 'payload.accountId': 1, lastAt: -1 }, { name: 'account_last_newest' });

/** Matches jobs that need a person. */
export const needsPersonFilter = { needsPersonSince: { $type: 'date' as const } };

export const FailingJobModel = mongoose.model('FailingJob', schema);
export const failingJobs = getCollection<FailingJob>(FailingJobModel);
