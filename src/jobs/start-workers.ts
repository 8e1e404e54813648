/** Makes this process take jobs. */
import { UnrecoverableError, Worker, type Job as BullJob } from 'bullmq';
import { env } from '../../config/env.js';
import { connectRedis, newWorkerConnection } from '../redis/connection.js';
import { logger } from '../shared/logger.js';
import { repeat } from '../shared/repeat.js';
import { isNamed, payloadOf, readPayload, type Handler, type Job, type Queue } from './define-job.js';
import { openQueue } from './queues.js';

/** `close` lets what is under way finish. */
export interface RunningWorkers {
  close(): Promise<void>;
}

/** How often a process sees to it that the clock's jobs stand in Redis, which may have been emptied. */
const keepSchedulesEveryMs = 5_000;

interface OpenHandler {
  job: Job<never>;
  run(data: never): Promise<unknown>;
  close(): Promise<void>;
}

/** Starts a worker for each queue of these handlers, and keeps the schedule of those that run by the clock. */
export function startWorkers(handlers: Handler[]): RunningWorkers {
  const opened = handlers.map((handler) => ({ job: handler.job, ...handler.open() }));
  const queues = [...new Set(handlers.map(({ job }) => job.queue))];
  const workers = queues.map((queue) => startWorker(queue, opened));
  const clocked = handlers.map(({ job }) => job).filter(({ clock }) => clock !== undefined);
  const keeping = repeat({
    name: 'keep schedules',
    everyMs: keepSchedulesEveryMs,
    async run() {
      if (clocked.length > 0) {
        await connectRedis();
        await Promise.all(clocked.map(keepSchedule));
      }
    },
  });
  return {
    async close() {
      await Promise.all([keeping.stop(), ...workers.map((worker) => worker.close())]);
      await Promise.all(opened.map((each) => each.close()));
    },
  };
}

function startWorker(queue: Queue, handlers: OpenHandler[]): Worker {
  const mine = handlers.filter(({ job }) => job.queue === queue);
  const connection = newWorkerConnection();
  const worker = new Worker(queue.name, (job) => dispatch(mine, job), {
    connection,
    prefix: env.QUEUE_PREFIX,
    concurrency: queue.concurrency,
    // A worker that is killed must not keep its jobs for long: they are taken over after about 15 s.
    lockDuration: 10_000,
    stalledInterval: 3_000,
    maxStalledCount: 10,
  });
  worker.on('error', () => undefined);
  // BullMQ leaves a connection open that it was given.
  worker.on('closed', () => connection.disconnect());
  worker.on('failed', (job, error) => {
    logger.error('job failed', {
      queue: queue.name,
      job: job?.name,
      jobId: job?.id,
      data: job?.data as unknown,
      error,
    });
  });
  return worker;
}

async function dispatch(handlers: OpenHandler[], { name, data }: BullJob): Promise<void> {
  const found = handlers.find(({ job }) => isNamed(job, name));
  if (!found) {
    throw new UnrecoverableError(`This release does not know the job ${name}.`);
  }
  await found.run(readPayload(found.job, name, data));
}

/** Redis may have been emptied, a release may have changed a period, and a host's clock may have been wrong. */
async function keepSchedule(job: Job<never>): Promise<void> {
  const { clock, name, queue } = job;
  if (!clock) {
    return;
  }
  const found = await openQueue(queue).getJobScheduler(name);
  const lateMs = Date.now() - (found?.next ?? 0);
  const slackMs = 2 * clock.everyMs + keepSchedulesEveryMs;
  if (found?.every !== clock.everyMs || Math.abs(lateMs) > slackMs) {
    // A process whose clock is ahead plans the next run in a future that the others would wait for.
    await openQueue(queue).removeJobScheduler(name);
    await openQueue(queue).upsertJobScheduler(
      name,
      { every: clock.everyMs },
      { name, data: payloadOf(job, clock.data), opts: { removeOnComplete: 10 } },
    );
  }
}
