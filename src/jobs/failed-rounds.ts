/**
 * How often a job has failed, kept in MongoDB: neither a lost Redis nor a job that kills its worker begins the count
 * anew. A round that an outage has ended is not counted (is-outage.ts).
 */
import mongoose from 'mongoose';
import { env } from '../../config/env.js';
import { now, nowMs } from '../shared/clock.js';
import { DependencyError } from '../shared/errors.js';
import { toPrintable } from '../shared/printable.js';
import { type Payload, readPayload, type Job, type Queue } from './define-job.js';
import { failingJobs, type FailingJob } from './failing-job.model.js';
import type { Job as BullJob } from 'bullmq';
import { redis } from '../redis/connection.js';
import { deduplicationId } from './add-job.js';

/** After so many rounds that failed one after the other a job is set aside for a person. */
export const roundsMax = 6;

/** Doubles with each round, so that six of them take more than eleven minutes: longer than most troubles last. */
const firstPauseMs = env.APP_MODE === 'live' ? 30_000 : 150;
/** Jobs that failed together must not all meet again. */
const jitter = 0.25;
/** What is set aside and has nowhere else to wait is tried again so often by itself. */
const setAsidePauseMs = 86_400_000;
/** Rounds that failed so long ago have nothing to do with today's. */
const forgottenAfterMs = 86_400_000;
const reasonLengthMax = 300;
/** More of them tell nothing more. */
const failuresMax = 20;

/** A job and its subject: the id of its row. */
export function failingId(job: string, subject: string): string {
  return `${job}:${subject}`;
}

/**
 * Counts a round that failed.
 * @throws DependencyError while MongoDB is away: then the round was no fault of the job either.
 */
export async function countFailedRound(
  failed: Pick<FailingJob, 'job' | 'subject' | 'queue'> & { payload: Payload; error: unknown },
): Promise<FailingJob> {
  requireMongo();
  const { job, subject, queue, payload, error } = failed;
  const _id = failingId(job, subject);
  const before = new Date(nowMs() - forgottenAfterMs);
  await failingJobs.deleteMany({ lastAt: { $lt: before }, needsPersonSince: null });
  const failure = { at: now(), reason: describeError(error) };
  const counted = await failingJobs.findOneAndUpdate(
    { _id },
    {
      $inc: { rounds: 1 },
      $set: { queue, payload, reason: failure.reason, lastAt: failure.at },
      $push: { failures: { $each: [failure], $slice: -failuresMax } },
      $setOnInsert: { job, subject, firstAt: failure.at, needsPersonSince: null },
    },
    { upsert: true, returnDocument: 'after' },
  );
  if (!counted) {
    throw new Error(`The failed round of ${_id} was not counted`);
  }
  return counted;
}

/** From now on a person has to look at it. */
export async function flagForPerson({ _id }: FailingJob): Promise<void> {
  await failingJobs.updateOne({ _id, needsPersonSince: null }, { $set: { needsPersonSince: now() } });
}

/** It was done after all, or its subject shows itself what it waits for. */
export async function forgetFailedRounds(job: string, subject: string): Promise<void> {
  requireMongo();
  await failingJobs.deleteOne({ _id: failingId(job, subject) });
}

/** Until the next round, in milliseconds. */
export function pauseAfter(rounds: number): number {
  const pauseMs = rounds >= roundsMax ? setAsidePauseMs : firstPauseMs * 2 ** (rounds - 1);
  return Math.round(pauseMs * (1 - jitter + 2 * jitter * Math.random()));
}

/** For a person, without what may be a customer's: the log has all of it. */
export function describeError(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return toPrintable(text)
    .replace(/\d{5,}/g, '***')
    .slice(0, reasonLengthMax);
}

/** The driver would wait for it. */
function requireMongo(): void {
  if (mongoose.connection.readyState !== mongoose.ConnectionStates.connected) {
    throw new DependencyError(new Error('MongoDB is away'));
  }
}

/**
 * The job of a subject that has failed for good: BullMQ's mark of a subject ends with its job, so that the next one may come, and
 * leads no operator there any more. A key of our own does, for a day.
 */

const keptMs = 86_400_000;

function getFailedJobKey(job: { name: string }, queue: Queue, subject: string): string {
  return `${env.QUEUE_PREFIX}:failed-job:${queue.name}:${deduplicationId(job, subject)}`;
}

/** Notes that it has failed. @throws Redis's own errors, and those of a payload that nobody can read: about nothing. */
export async function noteFailed(job: Job<never>, queue: Queue, bullJob: BullJob): Promise<void> {
  const subject = job.subject(readPayload(job, bullJob.name, bullJob.data));
  await redis().set(getFailedJobKey(job, queue, subject), bullJob.id ?? '', 'PX', keptMs);
}

/** BullMQ's id of the job of this subject that failed last, or null: none did within a day. */
export function findLastFailed(job: Job<never>, subject: string): Promise<string | null> {
  return redis().get(getFailedJobKey(job, job.queue, subject));
}
