import mongoose, { Schema } from 'mongoose';
import { getCollection } from '../database/typed-collection.js';

/** A round that failed. */
export interface FailedRound {
  at: Date;
  /** What it ended with, without long numbers. */
  reason: string;
}

/** A job whose rounds have failed one after the other: how often, and since when it takes a person. One row a subject. */
export interface FailingJob {
  /** Name of the job and its subject. */
  _id: string;
  /** Name of its queue. */
  queue: string;
  job: string;
  subject: string;
  /** Its payload as it stands in Redis: ids and a version. With it a person can let it run again. */
  payload: Record<string, unknown>;
  rounds: number;
  /** What the last round ended with, without long numbers. */
  reason: string;
  /** Those that failed, the newest last, 20 at most. */
  failures: FailedRound[];
  firstAt: Date;
  lastAt: Date;
  /** Null while it is tried again by itself. */
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

/** What takes a person. */
export const needPerson = { needsPersonSince: { $type: 'date' as const } };

export const FailingJobModel = mongoose.model('FailingJob', schema);
export const failingJobs = getCollection<FailingJob>(FailingJobModel);
