import { setTimeout } from 'node:timers/promises';
import { logger } from './logger.js';

/**
 * Runs something again and again with a pause between the runs, never two at once. A failure is logged and does
 * not end it: sweeps must outlive every outage.
 * @returns `stop`, which resolves when a run under way has ended.
 */
export function repeat(options: { name: string; everyMs: number; run: () => Promise<unknown> }): {
  stop(): Promise<void>;
} {
  const controller = new AbortController();
  const finished = loop(options, controller.signal);
  return {
    async stop() {
      controller.abort();
      await finished;
    },
  };
}

async function loop(
  { name, everyMs, run }: { name: string; everyMs: number; run: () => Promise<unknown> },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await run();
    } catch (error) {
      logger.warn('a sweep failed, the next one follows', { sweep: name, error });
    }
    await pause(everyMs, signal);
  }
}

/** Ends early, without an error, when the loop is told to stop. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined);
}
