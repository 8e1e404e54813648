import { setTimeout } from 'node:timers/promises';
import { Worker, type Job, type Processor, type WorkerOptions } from 'bullmq';
import { createFleetBackend } from './fleet-backend.js';

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
