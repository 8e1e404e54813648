/**
 * BullMQ passes the host's time to its scripts, which promote delayed jobs and plan schedules for
 * all processes. This backend passes the time of the shared Redis clock instead. It converts times
 * for the worker back to the host's clock (decision 049).
 */
import {
  createRedisBackend,
  type BackendFactory,
  type RedisQueueBackend,
  Worker,
  type Job,
  type Processor,
  type WorkerOptions,
} from 'bullmq';
import { nowMs } from '../shared/clock.js';
import { setTimeout } from 'node:timers/promises';

/**
 * Index of the time argument in each script, counted after the keys. The number of keys is in the
 * file name in BullMQ's commands/. A BullMQ release may change it, so
 * test/jobs/fleet-backend.test.ts compares this table.
 */
export const timeArgumentIndex: ReadonlyMap<string, number> = new Map([
  ['addJobScheduler', 11 + 6],
  ['moveStalledJobsToWait', 9 + 2],
  ['moveToActive', 11 + 1],
  ['moveToDelayed', 11 + 1],
  ['moveToFinished', 14 + 1],
  ['retryJob', 11 + 1],
  ['updateJobScheduler', 12 + 4],
]);

/** A script's reply: the next job, or the time to wait. It is empty if no job was requested. */
type NextJobReply = [job: unknown, id: unknown, limitMs: number, dueMs: number] | [];

export const createFleetBackend: BackendFactory<RedisQueueBackend> = (...backendArgs) => {
  const backend = createRedisBackend(...backendArgs);
  const execCommand = backend.execCommand.bind(backend);
  const moveToActive = backend.moveToActive.bind(backend);
  const moveToFinished = backend.moveToFinished.bind(backend);
  const waitForJob = backend.waitForJob.bind(backend);
  return Object.assign(backend, {
    execCommand(...[client, name, args]: Parameters<typeof execCommand>): unknown {
      const place = timeArgumentIndex.get(name);
      return execCommand(client, name, place === undefined ? args : (args as unknown[]).with(place, nowMs()));
    },
    moveToActive: async (...asked: Parameters<typeof moveToActive>) =>
      convertDueToHostClock((await moveToActive(...asked)) as NextJobReply),
    moveToFinished: async (...asked: Parameters<typeof moveToFinished>) =>
      convertDueToHostClock((await moveToFinished(...asked)) as NextJobReply),
    async waitForJob(seconds: number) {
      const mark = await waitForJob(seconds);
      return mark && { ...mark, score: toHostClock(mark.score) };
    },
  });
};

function convertDueToHostClock(next: NextJobReply): NextJobReply {
  const [job, id, limitMs, dueMs] = next;
  return dueMs === undefined || limitMs === undefined ? next : [job, id, limitMs, toHostClock(dueMs)];
}

/** Converts a time of the shared clock to the host's clock. 0 means no time and stays 0. */
function toHostClock(fleetMs: number): number {
  return fleetMs > 0 ? fleetMs + Date.now() - nowMs() : fleetMs;
}

/** Pause in milliseconds before a worker retries after a Redis error. */
const pauseMs = 1_000;

/**
 * A worker that pauses after a Redis error and uses the shared clock. Without the pause, BullMQ
 * retries at once, thousands of times a second, when Redis is full or read-only.
 */
export class BackoffWorker extends Worker {
  readonly #stopping = new AbortController();

  constructor(name: string, run: Processor, options: WorkerOptions) {
    super(name, run, options, createFleetBackend);
  }

  protected override async moveToActive(token: string, name?: string): Promise<Job> {
    try {
      return await super.moveToActive(token, name);
    } catch (error) {
      await this.delay();
      throw error;
    }
  }

  /**
   * If Redis refuses the blocking command, BullMQ passes no delay, and its default is only 100 ms.
   */
  override async delay(...[milliseconds, abortController]: Parameters<Worker['delay']>): Promise<void> {
    if (milliseconds !== undefined) {
      await super.delay(milliseconds, abortController);
      return;
    }
    await setTimeout(pauseMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  override close(force?: boolean): Promise<void> {
    this.#stopping.abort();
    return super.close(force);
  }
}
