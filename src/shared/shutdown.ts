/** Ends a process in order: stop taking work, finish what is under way, close connections, exit 0. */
import closeWithGrace from 'close-with-grace';
import { limits } from '../../config/limits.js';
import { logger } from './logger.js';

/** Runs `steps` one after the other on SIGTERM or SIGINT, or when an error escapes everything (exit 1). */
export function onShutdown(processName: string, steps: (() => Promise<unknown>)[]): void {
  closeWithGrace({ delay: limits.drainTimeoutMs, logger: false }, async ({ signal, err }) => {
    if (err) {
      logger.error('unexpected error, stopping', { process: processName, error: err });
    } else {
      logger.info('stopping', { process: processName, signal });
    }
    for (const step of steps) {
      await step();
    }
    logger.info('stopped', { process: processName });
  });
}
