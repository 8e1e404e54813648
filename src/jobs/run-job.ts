/**
 * Runs one round of a job and handles its failure (decision 047). A failed round is retried with
 * backoff. After `roundsMax` failed rounds, the job is set aside for a person. Rounds that killed
 * their worker count too. Rounds that fail because of an outage do not.
 */
import { DelayedError, RateLimitError, UnrecoverableError, type Job as BullJob } from 'bullmq';
import { withLease } from '../redis/lease.js';
import { nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { parseRequestId, runInSpan, type SpanSpec } from '../shared/tracing.js';
import { withTimeout } from '../shared/concurrency.js';
import {
  isNamed,
  getLimitMs,
  readPayload,
  type Handler,
  type Job,
  type Payload,
  type Queue,
  DeferJobError,
  RequeueJobError,
  tooEarly,
} from './define-job.js';
import {
  countFailedRound,
  forgetFailedRounds,
  flagForPerson,
  getRetryPauseMs,
  roundsMax,
} from './failed-rounds.js';
import { recordClockRun } from './clock-run.model.js';
import type { FailingJob } from './failing-job.model.js';
import { isOutage } from './is-outage.js';
import { observeJob } from './job-metrics.js';
import { openQueue } from './queues.js';

export interface OpenHandler {
  job: Job<never>;
  setAside: Handler['setAside'];
  run(data: never): Promise<unknown>;
  close(): Promise<void>;
}

/** Pause in milliseconds during an outage, for a job that no sweep adds again. */
const outagePauseMs = 10_000;

/**
 * Number of worker deaths after which a job is suspect. Only one suspect job of a queue runs at a
 * time, to isolate the cause.
 */
const suspectAfterDeaths = 3;
const suspectLeaseMs = 3_000;
/** Pause in milliseconds before a suspect job tries to run again. */
const suspectPauseMs = 1_000;

/**
 * Round counters that a job carries in Redis, so that jobs without failures need no read of
 * MongoDB. The authoritative count is in MongoDB.
 */
interface RoundCounters {
  failed: number;
  /** Number of worker deaths that are already counted. */
  deaths: number;
}

interface Round {
  queue: Queue;
  handler: OpenHandler;
  bullJob: BullJob;
  /** BullMQ's lock token. */
  token: string | undefined;
  data: never;
}

/**
 * Runs a job that BullMQ has taken.
 *
 * @throws DelayedError if the job must run later.
 * @throws RateLimitError if it cannot run yet.
 * @throws Error if the round failed.
 */
export async function runJob(
  queue: Queue,
  handlers: OpenHandler[],
  bullJob: BullJob,
  token?: string,
): Promise<void> {
  const startedMs = performance.now();
  const job = handlers.find((each) => isNamed(each.job, bullJob.name))?.job.name ?? 'unknown';
  const failure = await runInSpan(buildSpan(queue, job, bullJob), async (span) => {
    const ended = (outcome: 'done' | 'again' | 'failed') => {
      observeJob({ job_name: job, outcome }, (performance.now() - startedMs) / 1_000);
      span.note({ 'topup.outcome': outcome });
    };
    try {
      await runRound(queue, handlers, bullJob, token);
      ended('done');
      return null;
    } catch (error) {
      const isFailed = !(error instanceof DelayedError || error instanceof RateLimitError);
      ended(isFailed ? 'failed' : 'again');
      if (isFailed) {
        span.fail(error instanceof Error ? error.name : 'Error');
      }
      return { error };
    }
  });
  if (failure) {
    throw failure.error;
  }
}

/** Returns the request id of the HTTP call that caused the job, or undefined. */
export function getRequestId({ opts }: Pick<BullJob, 'opts'>): string | undefined {
  return parseRequestId(opts.telemetry?.metadata);
}

function buildSpan(queue: Queue, job: string, { opts, timestamp }: BullJob): SpanSpec {
  const waitedMs = nowMs() - timestamp;
  return {
    name: `job ${job}`,
    kind: 'consumer',
    attributes: { 'topup.job': job, 'topup.queue': queue.name, 'topup.waited_ms': waitedMs },
    under: opts.telemetry?.metadata ?? null,
  };
}

async function runRound(
  queue: Queue,
  handlers: OpenHandler[],
  bullJob: BullJob,
  token?: string,
): Promise<void> {
  const handler = handlers.find(({ job }) => isNamed(job, bullJob.name));
  if (!handler) {
    throw new UnrecoverableError(`This release does not know the job ${bullJob.name}.`);
  }
  const data = readPayload(handler.job, bullJob.name, bullJob.data);
  const round = { queue, handler, bullJob, token, data };
  if (bullJob.stalledCounter > getRoundCounters(bullJob).deaths) {
    await handleWorkerDeath(round);
  }
  const startedMs = performance.now();
  let result: unknown;
  try {
    result = await (bullJob.stalledCounter < suspectAfterDeaths ? runWithLimit(round) : runAlone(round));
  } catch (error) {
    if (error instanceof DelayedError) {
      throw error;
    }
    if (error instanceof RequeueJobError) {
      await openQueue(queue).rateLimit(Math.max(1, Math.ceil(error.retryAfterMs)));
      throw new RateLimitError();
    }
    if (error instanceof DeferJobError) {
      // BullMQ runs unprioritised jobs first. On an active job this call has no other effect.
      await bullJob.changePriority({ priority: 0 });
      await delayJob(round, error.afterMs);
    }
    await handleFailure(round, error);
  }
  if (result !== tooEarly && (handler.job.clock || getRoundCounters(bullJob).failed > 0)) {
    // If this fails, the count expires after a day.
    await forgetFailedRounds(handler.job.name, handler.job.subject(data)).catch(() => undefined);
    // If this fails, the job shows an old last run.
    await recordClockRun(handler.job, result, performance.now() - startedMs).catch(() => undefined);
  }
}

/**
 * Runs a job with its time limit. Without a limit, a missing response would block the job and every
 * later job of its subject. Handlers are safe to run concurrently, so the next run may overlap.
 */
function runWithLimit({ handler, data }: Round): Promise<unknown> {
  const { job } = handler;
  const limitMs = getLimitMs(job);
  return withTimeout(limitMs, handler.run(data), () => {
    return new Error(`Job ${job.name} timed out after ${limitMs / 1_000} s; another run may begin.`);
  });
}

/**
 * Runs a suspect job under a lease.
 * @throws DelayedError while another suspect job of this queue runs in any process.
 */
async function runAlone(round: Round): Promise<unknown> {
  const ran = await withLease(`suspect:${round.queue.name}`, suspectLeaseMs, async () => ({
    came: await runWithLimit(round),
  }));
  return ran ? ran.came : delayJob(round, suspectPauseMs * (1 + Math.random()));
}

function getRoundCounters({ progress }: BullJob): RoundCounters {
  const { failed = 0, deaths = 0 } = (typeof progress === 'object' ? progress : {}) as Partial<RoundCounters>;
  return { failed, deaths };
}

/**
 * Counts the death of the previous worker. The job may have caused it, or a concurrent job. One
 * death is tolerated. From the second death on, the job is delayed.
 */
async function handleWorkerDeath(round: Round): Promise<void> {
  const death = new Error('Its worker crashed, or lost its connection to Redis, while the job ran.');
  const failing = await tryToCountFailedRound(round, death);
  if (failing && failing.rounds > 1 && !round.handler.job.clock) {
    await delayOrSetAside(round, failing, death);
  }
}

async function handleFailure(round: Round, error: unknown): Promise<never> {
  const { job } = round.handler;
  const failing = isOutage(error) ? null : await tryToCountFailedRound(round, error);
  if (failing && !job.clock) {
    await delayOrSetAside(round, failing, error);
  }
  if (!failing && job.isSwept === false) {
    await delayJob(round, outagePauseMs);
  }
  // A sweep, the schedule or the client adds the job again.
  throw error;
}

/**
 * Counts a failed round.
 * @returns Null if the round is not counted, because the job may be lost or MongoDB is unavailable.
 */
async function tryToCountFailedRound(
  { queue, handler, bullJob, data }: Round,
  error: unknown,
): Promise<FailingJob | null> {
  const { job } = handler;
  if (job.mayBeLost) {
    return null;
  }
  try {
    const subject = job.subject(data);
    const payload = bullJob.data as Payload;
    const failing = await countFailedRound({ job: job.name, subject, queue: queue.name, payload, error });
    const rounds: RoundCounters = { failed: failing.rounds, deaths: bullJob.stalledCounter };
    await bullJob.updateProgress(rounds);
    if (job.clock && failing.rounds >= roundsMax) {
      // Scheduled jobs continue to run in each period.
      await flagForPerson(failing);
    }
    return failing;
  } catch (outage) {
    logger.warn('failed round could not be counted', {
      job: job.name,
      jobId: bullJob.id,
      requestId: getRequestId(bullJob),
      error: outage,
    });
    return null;
  }
}

/**
 * Delays the job after a failed round, or sets it aside.
 * @throws DelayedError if the job runs again.
 * @throws UnrecoverableError if the subject itself shows that it needs a person.
 */
async function delayOrSetAside(round: Round, failing: FailingJob, error: unknown): Promise<never> {
  const { handler, bullJob, queue, data } = round;
  const { rounds, job, subject } = failing;
  const pauseMs = getRetryPauseMs(rounds);
  logger.error(rounds < roundsMax ? 'job failed, will be retried' : 'job failed, needs a person', {
    queue: queue.name,
    job,
    jobId: bullJob.id,
    requestId: getRequestId(bullJob),
    data: bullJob.data as unknown,
    rounds,
    pauseMs,
    error,
  });
  if (rounds >= roundsMax) {
    const reason = `Its job ${job} failed ${rounds} times. ${failing.reason}`;
    if (await setAsideSubject(handler, data, reason)) {
      await forgetFailedRounds(job, subject).catch(() => undefined);
      throw new UnrecoverableError(reason);
    }
    await flagForPerson(failing);
  }
  return delayJob(round, pauseMs);
}

async function setAsideSubject(
  { setAside, job }: OpenHandler,
  data: never,
  reason: string,
): Promise<boolean> {
  try {
    return (await setAside?.(data, reason)) ?? false;
  } catch (error) {
    logger.error('subject of a job could not be set aside', { job: job.name, error });
    return false;
  }
}

/**
 * Delays the job. It remains the only job of its subject, so that no sweep adds another too early.
 */
async function delayJob({ bullJob, token }: Round, pauseMs: number): Promise<never> {
  // BullMQ computes the delay from the host's time. Its script then adds the delay to the time of
  // the shared clock (fleet-worker.ts).
  await bullJob.moveToDelayed(Date.now() + pauseMs, token);
  throw new DelayedError();
}
