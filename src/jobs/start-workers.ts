import type { Job as BullJob, Worker } from 'bullmq';
import { redis, getWorkerConnection } from '../redis/connection.js';
import { logRedisError } from '../redis/connection-errors.js';
import { nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { repeat } from '../shared/repeat.js';
import {
  hangsAfterShare,
  isNamed,
  getLimitMs,
  buildPayload,
  type Handler,
  type HandlerFamily,
  type Job,
  type Queue,
} from './define-job.js';
import { applyFleetLimits } from './fleet-limits.js';
import { recordFailedJob } from './failed-rounds.js';
import { BackoffWorker } from './fleet-worker.js';
import { openQueue, getQueuePrefix } from './queues.js';
import { failUnreadable } from './read-job.js';
import { repairQueue, workerTimes } from './repair-queue.js';
import { getRequestId, runJob, type OpenHandler } from './run-job.js';

export interface RunningWorkers {
  /** Resolves when all workers can take jobs. */
  ready: Promise<unknown>;
  /** Number of jobs taken by this process, by queue. Excludes the queues of handler families. */
  taken: ReadonlyMap<Queue, number>;
  /**
   * Returns queues with an active job that has used most of its time limit. Its handler hangs, for
   * example because a response never arrives.
   */
  hanging(): Queue[];
  /**
   * Stops taking jobs and waits for the active ones. It does not wait for other work that needs
   * Redis.
   */
  close(): Promise<void>;
}

/** A round that is running. */
interface RunningRound {
  queue: Queue;
  /** When the round counts as hanging, on the monotonic clock of the process. */
  hangsFromMs: number;
}

/**
 * Interval in milliseconds of the check that scheduled jobs exist in Redis, which may have been
 * emptied.
 */
const restoreSchedulesEveryMs = 5_000;

/** Interval in milliseconds at which the times that BullMQ stored are checked. */
const repairQueuesEveryMs = 3_000;

/** Interval in milliseconds of the check for new queues of a family. */
const checkQueuesEveryMs = 1_000;

/**
 * Starts a worker for each queue of these handlers and maintains the schedules of their jobs. It
 * follows changes of the families while the process runs.
 */
export function startWorkers(handlers: Handler[], families: HandlerFamily[] = []): RunningWorkers {
  const opened = handlers.map(openHandler);
  const taken = new Map<Queue, number>();
  const rounds = new Set<RunningRound>();
  const queues = [...new Set(handlers.map(({ job }) => job.queue))];
  const workers = queues.map((queue) => {
    taken.set(queue, 0);
    return startWorker(queue, opened, rounds, () => taken.set(queue, (taken.get(queue) ?? 0) + 1));
  });
  const followed = families.map((family) => followFamily(family, rounds));
  const clocked = handlers.map(({ job }) => job).filter(({ clock }) => clock !== undefined);
  const keeping = repeat({
    name: 'keep schedules',
    everyMs: restoreSchedulesEveryMs,
    async run() {
      // The Redis connection reports an outage itself, and `stop` waits for this call.
      if (redis().status === 'ready') {
        await Promise.all(clocked.map(restoreSchedule));
      }
    },
  });
  const repairing = repeat({
    name: 'queue times',
    everyMs: repairQueuesEveryMs,
    async run() {
      if (redis().status === 'ready') {
        await Promise.all([...queues, ...followed.flatMap((each) => each.queues())].map(repairQueue));
      }
    },
  });
  return {
    taken,
    hanging: () => [
      ...new Set(
        [...rounds].filter((each) => performance.now() >= each.hangsFromMs).map(({ queue }) => queue),
      ),
    ],
    ready: Promise.all(workers.map(({ worker }) => worker.waitUntilReady())),
    async close() {
      await Promise.all([
        keeping.stop(),
        repairing.stop(),
        ...workers.map(closeWorker),
        ...followed.map((each) => each.close()),
      ]);
      await Promise.all(opened.map((each) => each.close()));
    },
  };
}

function openHandler({ job, setAside, ...handler }: Handler): OpenHandler {
  return { job, setAside, ...handler.open() };
}

interface RunningWorker {
  worker: Worker;
  underWay: Set<Promise<void>>;
}

/**
 * Starts a worker for each new queue of the family, closes the workers of removed queues, and
 * applies the limits of all queues.
 */
function followFamily(
  family: HandlerFamily,
  rounds: Set<RunningRound>,
): { queues(): Queue[]; close(): Promise<void> } {
  const running = new Map<string, RunningWorker & { opened: OpenHandler }>();
  const following = repeat({
    name: family.name,
    everyMs: checkQueuesEveryMs,
    async run() {
      // The Redis connection reports an outage itself.
      if (redis().status !== 'ready') {
        return;
      }
      const handlers = await family.handlersNow();
      const wanted = new Map(handlers.map((handler) => [handler.job.queue.name, handler]));
      await Promise.all([...running.keys()].filter((name) => !wanted.has(name)).map(close));
      for (const [name, handler] of wanted) {
        const { queue } = handler.job;
        const found = running.get(name);
        if (found) {
          found.worker.concurrency = queue.concurrency;
        } else {
          const opened = openHandler(handler);
          running.set(name, { ...startWorker(queue, [opened], rounds), opened });
        }
      }
      await Promise.all(handlers.map(({ job }) => applyFleetLimits(job.queue)));
    },
  });
  const close = async (name: string): Promise<void> => {
    const found = running.get(name);
    running.delete(name);
    if (found) {
      await closeWorker(found);
      await found.opened.close();
    }
  };
  return {
    queues: () => [...running.values()].map(({ opened }) => opened.job.queue),
    async close() {
      await following.stop();
      await Promise.all([...running.keys()].map(close));
    },
  };
}

function startWorker(
  queue: Queue,
  handlers: OpenHandler[],
  rounds: Set<RunningRound>,
  onTaken: () => unknown = () => undefined,
): RunningWorker {
  const mine = handlers.filter(({ job }) => job.queue.name === queue.name);
  const underWay = new Set<Promise<void>>();
  const run = async (job: BullJob, token?: string): Promise<void> => {
    onTaken();
    const known = mine.find((each) => isNamed(each.job, job.name));
    const mayTakeMs = getLimitMs(known?.job ?? {});
    const round = { queue, hangsFromMs: performance.now() + hangsAfterShare * mayTakeMs };
    rounds.add(round);
    const running = runJob(queue, mine, job, token);
    underWay.add(running);
    try {
      await running;
    } finally {
      underWay.delete(running);
      rounds.delete(round);
    }
  };
  const worker = new BackoffWorker(queue.name, run, {
    connection: getWorkerConnection(),
    prefix: getQueuePrefix(queue),
    concurrency: queue.concurrency,
    ...workerTimes,
    maxStalledCount: 10,
  });
  worker.on('error', (error) => {
    logRedisError('redis error of a worker', error, { queue: queue.name });
  });
  // A job that cannot be read stalls.
  worker.on('stalled', (id) => {
    failUnreadable(queue, id).catch(() => undefined);
  });
  worker.on('failed', (job, error) => {
    logger.error('job failed', {
      queue: queue.name,
      job: job?.name,
      jobId: job?.id,
      requestId: job && getRequestId(job),
      data: job?.data as unknown,
      error,
    });
    const known = mine.find((each) => job && isNamed(each.job, job.name));
    if (job && known) {
      // If this fails, operators still find the job among the failed jobs, but not by its subject.
      recordFailedJob(known.job, queue, job).catch(() => undefined);
    }
  });
  return { worker, underWay };
}

/**
 * Closes a worker. BullMQ waits for Redis to record finished jobs. If Redis is unavailable, the
 * next worker finds the results of these jobs in MongoDB.
 */
async function closeWorker({ worker, underWay }: RunningWorker): Promise<void> {
  const closed = worker.close().catch(() => undefined);
  await Promise.allSettled(underWay);
  const connection = getWorkerConnection();
  if (connection.status === 'ready') {
    await Promise.race([closed, new Promise((resolve) => connection.once('close', resolve))]);
  }
}

/**
 * Restores a schedule if Redis was emptied, a release changed the period, or the clock of Redis was
 * wrong.
 */
async function restoreSchedule(job: Job<never>): Promise<void> {
  const { clock, name, queue } = job;
  if (!clock) {
    return;
  }
  const found = await openQueue(queue).getJobScheduler(name);
  const lateMs = nowMs() - (found?.next ?? 0);
  const slackMs = 2 * clock.everyMs + restoreSchedulesEveryMs;
  if (found?.every !== clock.everyMs || Math.abs(lateMs) > slackMs) {
    // Remove the old schedule first. If a fast clock planned it, it would block until that future
    // time.
    await openQueue(queue).removeJobScheduler(name);
    await openQueue(queue).upsertJobScheduler(
      name,
      { every: clock.everyMs },
      { name, data: buildPayload(job, clock.data), opts: { removeOnComplete: 10 } },
    );
  }
}
