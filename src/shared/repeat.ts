import { setTimeout } from 'node:timers/promises';
import { logger } from './logger.js';

interface Repeated {
  name: string;
  /** Between the end of a run and the next one. A function is asked after each. */
  everyMs: number | (() => number);
  run: () => Promise<unknown>;
}

/**
 * Runs something again and again with a pause between the runs, never two at once. A failure is logged and does
 * not end it: sweeps must outlive every outage.
 * @returns `stop`, which resolves when a run under way has ended.
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
      logger.warn('a sweep failed, the next one follows', { sweep: name, error });
    }
    await pause(typeof everyMs === 'number' ? everyMs : everyMs(), signal);
  }
}

/** Ends early, without an error, when the loop is told to stop. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined);
}
