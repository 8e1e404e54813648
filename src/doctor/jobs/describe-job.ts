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

/** Reasons why a job cannot be retried. `gone`: no job has this id any more. */
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

export interface SeenJob {
  /**
   * BullMQ's id and the queue, `812@settlements`. For a job that is in no queue any more: its name
   * and subject.
   */
  id: string;
  queue: string;
  /** Kind of job, by its current name. */
  name: string;
  /** Document that the job is about. Null: its payload cannot be read. */
  subject: string | null;
  /**
   * Payload, which contains only ids. Null: it cannot be read, and is not shown because it may
   * contain anything.
   */
  data: Record<string, unknown> | null;
  /** `lost`: it failed repeatedly and is in Redis no more. */
  state: JobState | 'lost';
  /** Rounds that were started with this job. */
  begun: number;
  /** Consecutive failed rounds of its subject. */
  failedRounds: number;
  /** When it was set aside for a person. */
  needsPersonSince: Date | null;
  /** Failures, newest last, without long numbers. */
  failures: FailedRound[];
  addedAt: Date | null;
  lastRunAt: Date | null;
  endedAt: Date | null;
  nextRunAt: Date | null;
  /** Null: it can be retried. */
  refusal: Refusal | null;
}

/** A job as Redis has it, before the failed rounds of its subject are read. */
export interface RawJob {
  queue: Queue;
  job: Job<never> | null;
  data: Record<string, unknown> | null;
  subject: string | null;
  bullJob: BullJob;
  state: JobState;
}

/**
 * Returns `name:subject`, the id of a subject's failed rounds; null if the payload cannot be read.
 */
export function getSubjectId({ job, subject }: Pick<RawJob, 'job' | 'subject'>): string | null {
  return job && subject !== null ? getFailingJobId(job.name, subject) : null;
}

export function rawJob(queue: Queue, bullJob: BullJob, state: JobState): RawJob {
  const job = findJobByName(bullJob.name) ?? null;
  const data = readJobData(job, bullJob.name, bullJob.data);
  const subject = job && data && job.subject(data as never);
  return { queue, job, data, subject, bullJob, state };
}

/**
 * Describes jobs. The failed rounds of all subjects are read with one query.
 * @throws DependencyError while a database is unavailable.
 */
export async function describeJobs(raw: RawJob[]): Promise<SeenJob[]> {
  const ids = raw.flatMap((each) => getSubjectId(each) ?? []);
  const rows = await failingJobs.find({ _id: { $in: ids } }).toArray();
  const rowOf = new Map(rows.map((row) => [row._id, row]));
  return Promise.all(raw.map((each) => describeJob(each, rowOf.get(getSubjectId(each) ?? '') ?? null)));
}

/** Describes a subject that failed repeatedly and whose job is gone from Redis. */
export function describeLostJob(row: FailingJob): SeenJob {
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

async function describeJob(raw: RawJob, row: FailingJob | null): Promise<SeenJob> {
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
    nextRunAt: state === 'delayed' ? await nextRun(queue, bullJob) : null,
    refusal: findRefusal(raw, row),
  };
}

/**
 * Returns why a job cannot be retried; null: it can.
 * @param row Failed rounds of its subject, if there are any.
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
async function nextRun(queue: Queue, bullJob: BullJob): Promise<Date | null> {
  const score = await redis().zscore(openQueue(queue).toKey('delayed'), bullJob.id ?? '');
  return score === null ? null : new Date(Math.floor(Number(score) / 0x1000));
}

function toDate(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms);
}
