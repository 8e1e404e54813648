/**
 * The job of a subject that has failed for good: BullMQ's mark of a subject ends with its job, so that the next one may come, and
 * leads no operator there any more. A key of our own does, for a day.
 */
import type { Job as BullJob } from 'bullmq';
import { env } from '../../config/env.js';
import { redis } from '../redis/connection.js';
import { deduplicationId } from './add-job.js';
import { readPayload, type Job, type Queue } from './define-job.js';

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
