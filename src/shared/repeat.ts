import { setTimeout } from 'node:timers/promises';
import { logger } from './logger.js';

interface Repeated {
  name: string;
  /**
   * Milliseconds between the end of a run and the start of the next one. If it is a function, it is
   * called after each run.
   */
  everyMs: number | (() => number);
  run: () => Promise<unknown>;
}

/**
 * Runs work repeatedly with a pause between the runs, never two at once. A failure is logged and
 * does not end the repetition, because sweeps must survive every outage.
 * @returns `stop`, which resolves when the current run has ended.
 */
export function repeat(options: Repeated): { stop(): Promise<void> } {
  const controller = new AbortController();
  const finished = loop(options, controller.signal);
  return {
    async stop() {
      controller.abort();
      await finished;
    },
  };
}

async function loop({ name, everyMs, run }: Repeated, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await run();
    } catch (error) {
      logger.warn('a sweep failed; it will run again', { sweep: name, error });
    }
    await pause(typeof everyMs === 'number' ? everyMs : everyMs(), signal);
  }
}

/** Waits for the next run. Returns early, without an error, when the loop stops. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined);
}
