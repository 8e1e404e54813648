/** Graceful shutdown: stop taking work, finish work in progress, close connections, exit 0. */
import closeWithGrace from 'close-with-grace';
import { limits } from '../../config/limits.js';
import { logger } from './logger.js';
import { ServerTooOldError } from './server-versions.js';
import { withTimeout } from './concurrency.js';

let stopping = false;

/** True once a shutdown has begun. */
export function isStopping(): boolean {
  return stopping;
}

/**
 * Ends the process on SIGTERM or SIGINT (exit code 0), or after an uncaught error (exit code 1). It
 * ends within `limits.stopMs`. Other processes take over unfinished work as after a kill, which is
 * equally safe but slower.
 * @param steps.drain Resolves when the work in progress is done.
 * @param steps.close Called one after the other.
 */
export function onShutdown(
  processName: string,
  steps: { drain: () => Promise<unknown>; close: (() => Promise<unknown>)[] },
): void {
  closeWithGrace({ delay: limits.stopMs, logger: false }, async ({ signal, err }) => {
    stopping = true;
    if (err instanceof ServerTooOldError) {
      logger.error(err.message, { process: processName });
    } else if (err) {
      logger.error('unexpected error, stopping', { process: processName, error: err });
    } else {
      logger.info('stopping', { process: processName, signal });
    }
    await runWithTimeout(limits.drainMs, steps.drain);
    for (const step of steps.close) {
      await runWithTimeout(limits.closeStepMs, step);
    }
    logger.info('stopped', { process: processName });
  });
}

async function runWithTimeout(ms: number, step: () => Promise<unknown>): Promise<void> {
  try {
    await withTimeout(ms, step(), () => new Error(`timed out after ${ms} ms`));
  } catch (error) {
    logger.warn('a shutdown step failed or timed out; shutdown continues', { error });
  }
}
