/**
 * Counts the failed rounds of a job in MongoDB, so that the count survives a loss of Redis or of a
 * worker. Rounds that fail because of an outage are not counted (is-outage.ts).
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
import { getDeduplicationId } from './add-job.js';

/** Number of consecutive failed rounds after which a job is set aside for a person. */
export const roundsMax = 6;

/**
 * Pause in milliseconds after the first failure. It doubles each time. Six rounds take more than
 * eleven minutes in live mode, which is longer than most temporary faults.
 */
const firstPauseMs = env.APP_MODE === 'live' ? 30_000 : 150;
/**
 * Jitter as a share of the pause, so that jobs that failed at the same time are not retried at the
 * same time.
 */
const jitter = 0.25;
/**
 * Retry interval in milliseconds of a job that was set aside, if its subject cannot show that it
 * needs a person.
 */
const setAsidePauseMs = 86_400_000;
/** Failed rounds older than this many milliseconds are deleted. */
const roundRetentionMs = 86_400_000;
const reasonLengthMax = 300;
/** Maximum number of failures stored per job. */
const failuresMax = 20;

export function getFailingJobId(job: string, subject: string): string {
  return `${job}:${subject}`;
}

/**
 * Counts a failed round.
 * @throws DependencyError while MongoDB is unavailable. In that case the job did not cause the
 *   failure.
 */
export async function countFailedRound(
  failed: Pick<FailingJob, 'job' | 'subject' | 'queue'> & { payload: Payload; error: unknown },
): Promise<FailingJob> {
  requireMongo();
  const { job, subject, queue, payload, error } = failed;
  const _id = getFailingJobId(job, subject);
  const before = new Date(nowMs() - roundRetentionMs);
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

export async function flagForPerson({ _id }: FailingJob): Promise<void> {
  await failingJobs.updateOne({ _id, needsPersonSince: null }, { $set: { needsPersonSince: now() } });
}

/**
 * Deletes the count, because the job succeeded or its subject itself shows that it needs a person.
 */
export async function forgetFailedRounds(job: string, subject: string): Promise<void> {
  requireMongo();
  await failingJobs.deleteOne({ _id: getFailingJobId(job, subject) });
}

/** Returns the pause until the next round in milliseconds. */
export function getRetryPauseMs(rounds: number): number {
  const pauseMs = rounds >= roundsMax ? setAsidePauseMs : firstPauseMs * 2 ** (rounds - 1);
  return Math.round(pauseMs * (1 - jitter + 2 * jitter * Math.random()));
}

/**
 * Describes an error for a person. Long numbers are masked, because they may be customer numbers.
 * The log has the full error.
 */
export function describeError(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return toPrintable(text)
    .replace(/\d{5,}/g, '***')
    .slice(0, reasonLengthMax);
}

/** Throws at once if MongoDB is unavailable, because the driver would wait for it. */
function requireMongo(): void {
  if (mongoose.connection.readyState !== mongoose.ConnectionStates.connected) {
    throw new DependencyError(new Error('MongoDB is unavailable'));
  }
}

const failedJobRetentionMs = 86_400_000;

function getFailedJobKey(job: { name: string }, queue: Queue, subject: string): string {
  return `${env.QUEUE_PREFIX}:failed-job:${queue.name}:${getDeduplicationId(job, subject)}`;
}

/**
 * Stores the id of a subject's failed job for a day. BullMQ deletes its own deduplication key when
 * a job ends, so operators could not find the job.
 * @throws Redis errors.
 * @throws Error if the payload is unreadable and so has no subject.
 */
export async function recordFailedJob(job: Job<never>, queue: Queue, bullJob: BullJob): Promise<void> {
  const subject = job.subject(readPayload(job, bullJob.name, bullJob.data));
  await redis().set(getFailedJobKey(job, queue, subject), bullJob.id ?? '', 'PX', failedJobRetentionMs);
}

/** Returns BullMQ's id of the last failed job of this subject within a day, or null. */
export function findLastFailedJobId(job: Job<never>, subject: string): Promise<string | null> {
  return redis().get(getFailedJobKey(job, job.queue, subject));
}
