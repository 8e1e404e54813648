/**
 * BullMQ tells its scripts the time of its host, by which they let delayed jobs go and plan what comes by the clock, for all
 * processes together. Here what is in Redis goes by the fleet's clock, and a worker hears of it by its host's (decision 049).
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
 * Where a script is told the time: behind its keys, which its name in BullMQ's commands/ counts. Another release of BullMQ
 * may move it: test/jobs/fleet-backend.test.ts compares.
 */
export const placeOfTime: ReadonlyMap<string, number> = new Map([
  ['addJobScheduler', 11 + 6],
  ['moveStalledJobsToWait', 9 + 2],
  ['moveToActive', 11 + 1],
  ['moveToDelayed', 11 + 1],
  ['moveToFinished', 14 + 1],
  ['retryJob', 11 + 1],
  ['updateJobScheduler', 12 + 4],
]);

/** What a worker is given with its next job, or instead of one; empty where it asked for none. */
type Next = [job: unknown, id: unknown, limitMs: number, dueMs: number] | [];

export const createFleetBackend: BackendFactory<RedisQueueBackend> = (...given) => {
  const backend = createRedisBackend(...given);
  const execCommand = backend.execCommand.bind(backend);
  const moveToActive = backend.moveToActive.bind(backend);
  const moveToFinished = backend.moveToFinished.bind(backend);
  const waitForJob = backend.waitForJob.bind(backend);
  return Object.assign(backend, {
    execCommand(...[client, name, args]: Parameters<typeof execCommand>): unknown {
      const place = placeOfTime.get(name);
      return execCommand(client, name, place === undefined ? args : (args as unknown[]).with(place, nowMs()));
    },
    moveToActive: async (...asked: Parameters<typeof moveToActive>) =>
      dueByHost((await moveToActive(...asked)) as Next),
    moveToFinished: async (...asked: Parameters<typeof moveToFinished>) =>
      dueByHost((await moveToFinished(...asked)) as Next),
    async waitForJob(seconds: number) {
      const mark = await waitForJob(seconds);
      return mark && { ...mark, score: byHost(mark.score) };
    },
  });
};

function dueByHost(next: Next): Next {
  const [job, id, limitMs, dueMs] = next;
  return dueMs === undefined || limitMs === undefined ? next : [job, id, limitMs, byHost(dueMs)];
}

/** 0 is no moment. */
function byHost(fleetMs: number): number {
  return fleetMs > 0 ? fleetMs + Date.now() - nowMs() : fleetMs;
}

/** How long a worker waits before it asks a Redis again that refused it. */
const pauseMs = 1_000;

/**
 * BullMQ asks again at once, thousands of times a second, when Redis answers a look for jobs with an error: it is full,
 * or read-only. This worker waits in between, and goes by the fleet's clock.
 */
export class PatientWorker extends Worker {
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

  /** BullMQ names no time where Redis refused to wait for jobs: its own is a tenth of a second. */
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
