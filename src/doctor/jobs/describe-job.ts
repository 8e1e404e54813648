/** Describes jobs for operators: subject, state and failed rounds. */
import type { Job as BullJob } from 'bullmq';
import { readPayload, type Job, type Queue } from '../../jobs/define-job.js';
import { getFailingJobId, describeError } from '../../jobs/failed-rounds.js';
import { failingJobs, type FailedRound, type FailingJob } from '../../jobs/failing-job.model.js';
import { openQueue } from '../../jobs/queues.js';
import { findJobByName } from '../../processes.js';
import { redis } from '../../redis/connection.js';

export const jobStates = ['waiting', 'prioritized', 'active', 'delayed', 'failed', 'completed'] as const;
export type JobState = (typeof jobStates)[number];

/** Reasons why a job cannot be retried. `gone` means that no job has this id any more. */
export const refusals = [
  'gone',
  'running',
  'waiting',
  'delayed',
  'done',
  'clock',
  'client',
  'unreadable',
] as const;
export type Refusal = (typeof refusals)[number];

export interface JobDescription {
  /**
   * The id that operators see: BullMQ's id and the queue, such as `812@settlements`. For a job that
   * is in no queue any more, its name and subject.
   */
  id: string;
  queue: string;
  /** Kind of the job, by its current name. */
  name: string;
  /** Document that the job is about. Null if the payload cannot be read. */
  subject: string | null;
  /**
   * The payload, which contains only ids. Null if it cannot be read; it is then hidden because it
   * may contain anything.
   */
  data: Record<string, unknown> | null;
  /** State of the job. `lost` means that it failed repeatedly and is no longer in Redis. */
  state: JobState | 'lost';
  /** Number of rounds that were started with this job. */
  begun: number;
  /** Number of consecutive failed rounds of the subject. */
  failedRounds: number;
  /** When the job was set aside for a person. Null if it was not. */
  needsPersonSince: Date | null;
  /** Failures with long numbers masked, newest last. */
  failures: FailedRound[];
  addedAt: Date | null;
  lastRunAt: Date | null;
  endedAt: Date | null;
  nextRunAt: Date | null;
  /** Why the job cannot be retried. Null if it can. */
  refusal: Refusal | null;
}

/** A job as stored in Redis, before the failed rounds of its subject are read. */
export interface RawJob {
  queue: Queue;
  job: Job<never> | null;
  data: Record<string, unknown> | null;
  subject: string | null;
  bullJob: BullJob;
  state: JobState;
}

/**
 * Returns `name:subject`, the id of a subject's failed rounds. Null if the payload cannot be read.
 */
export function getSubjectId({ job, subject }: Pick<RawJob, 'job' | 'subject'>): string | null {
  return job && subject !== null ? getFailingJobId(job.name, subject) : null;
}

export function buildRawJob(queue: Queue, bullJob: BullJob, state: JobState): RawJob {
  const job = findJobByName(bullJob.name) ?? null;
  const data = readJobData(job, bullJob.name, bullJob.data);
  const subject = job && data && job.subject(data as never);
  return { queue, job, data, subject, bullJob, state };
}

/**
 * Describes jobs. The failed rounds of all subjects are read with one query.
 * @throws DependencyError while a database is unavailable.
 */
export async function describeJobs(raw: RawJob[]): Promise<JobDescription[]> {
  const ids = raw.flatMap((each) => getSubjectId(each) ?? []);
  const rows = await failingJobs.find({ _id: { $in: ids } }).toArray();
  const rowOf = new Map(rows.map((row) => [row._id, row]));
  return Promise.all(raw.map((each) => describeJob(each, rowOf.get(getSubjectId(each) ?? '') ?? null)));
}

/** Describes a subject that failed repeatedly and whose job is no longer in Redis. */
export function describeLostJob(row: FailingJob): JobDescription {
  const job = findJobByName(row.job) ?? null;
  const data = readJobData(job, row.job, row.payload);
  return {
    id: row._id,
    queue: row.queue,
    name: row.job,
    subject: row.subject,
    data,
    state: 'lost',
    begun: row.rounds,
    failedRounds: row.rounds,
    failures: row.failures,
    addedAt: null,
    lastRunAt: row.lastAt,
    endedAt: null,
    nextRunAt: null,
    needsPersonSince: row.needsPersonSince,
    refusal: data ? null : 'unreadable',
  };
}

async function describeJob(raw: RawJob, row: FailingJob | null): Promise<JobDescription> {
  const { queue, job, data, subject, bullJob, state } = raw;
  const endedAt = toDate(bullJob.finishedOn);
  const last: FailedRound[] =
    state === 'failed' ? [{ at: endedAt ?? new Date(0), reason: describeError(bullJob.failedReason) }] : [];
  return {
    id: getJobId(raw),
    queue: queue.name,
    name: job?.name ?? bullJob.name,
    subject,
    data,
    state,
    begun: bullJob.attemptsStarted,
    failedRounds: row?.rounds ?? 0,
    failures: [...(row?.failures ?? []), ...last],
    needsPersonSince: row?.needsPersonSince ?? null,
    addedAt: toDate(bullJob.timestamp),
    lastRunAt: toDate(bullJob.processedOn),
    endedAt,
    nextRunAt: state === 'delayed' ? await findNextRun(queue, bullJob) : null,
    refusal: findRefusal(raw, row),
  };
}

/**
 * Returns why a job cannot be retried, or null if it can.
 * @param row The failed rounds of the subject. Null if there are none.
 */
export function findRefusal({ job, data, state }: RawJob, row: FailingJob | null): Refusal | null {
  if (state === 'active') {
    return 'running';
  }
  if (state === 'completed') {
    return 'done';
  }
  if (state === 'waiting' || state === 'prioritized') {
    return 'waiting';
  }
  if (!job || !data) {
    return 'unreadable';
  }
  if (job.clock) {
    return 'clock';
  }
  if (job.mayBeLost) {
    return 'client';
  }
  return state === 'delayed' && !row ? 'delayed' : null;
}

export function getJobId({ bullJob, queue }: Pick<RawJob, 'bullJob' | 'queue'>): string {
  return `${bullJob.id ?? ''}@${queue.name}`;
}

function readJobData(job: Job<never> | null, name: string, payload: unknown): Record<string, unknown> | null {
  try {
    return job && readPayload<Record<string, unknown>>(job, name, payload);
  } catch {
    return null;
  }
}

/** Returns when a delayed job runs next. BullMQ stores the time in the upper bits of the score. */
async function findNextRun(queue: Queue, bullJob: BullJob): Promise<Date | null> {
  const score = await redis().zscore(openQueue(queue).toKey('delayed'), bullJob.id ?? '');
  return score === null ? null : new Date(Math.floor(Number(score) / 0x1000));
}

function toDate(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms);
}
