/** What Redis, its connections and BullMQ complain of: heard, and not once a retry. */
import { logOncePerMinute } from '../shared/logger.js';
import { setTimeout as wait } from 'node:timers/promises';
import type { Redis } from 'ioredis';

/**
 * One line a minute for each code and each thing that did not work.
 * @param what did not work, from a small set of words: each has its own minute.
 */
export function logRedisError(what: string, error: unknown, details: Record<string, unknown> = {}): void {
  logOncePerMinute(what, getErrorCode(error), { ...details, error });
}

/**
 * `OOM`, `READONLY`, `ECONNREFUSED`: the code of a socket, or the first word of what Redis answered, which is its code
 * by protocol; of what caused an error, where that is known. Of anything else the name of the class.
 */
export function getErrorCode(error: unknown): string {
  if (!(error instanceof Error)) {
    return 'unknown';
  }
  if (error.cause instanceof Error) {
    return getErrorCode(error.cause);
  }
  if ('code' in error && typeof error.code === 'string') {
    return error.code;
  }
  const [word] = /^[A-Z]{2,}(?=\s)/.exec(error.message) ?? [];
  return word ?? error.name;
}

/**
 * For commands that somebody waits for. The answers of a connection come in order: after one that did not come
 * in time, nothing behind it comes sooner. So from then on commands fail at once, until Redis has answered quickly again.
 */

const probeEveryMs = 100;
const quickMs = 250;

/** @param patienceMs What a command has for its answer: `commandTimeout` of this connection. */
export function failFast(connection: Redis, patienceMs: number): void {
  const send = connection.sendCommand.bind(connection);
  let isSlow = false;
  let isProbe = false;

  connection.sendCommand = (command, stream) => {
    // Before it is ready a connection sends only what makes it so.
    if (isSlow && !isProbe && connection.status === 'ready') {
      command.reject(new Error('Redis has not answered in time; nothing is sent until it does'));
      return command.promise;
    }
    const sentAtMs = performance.now();
    command.promise.catch((error: unknown) => {
      if (performance.now() - sentAtMs >= 0.9 * patienceMs && !isSlow) {
        isSlow = true;
        logRedisError('redis does not answer in time: what can do without it does', error);
        void probe();
      }
    });
    return send(command, stream);
  };

  /** At once first: it may have been this process that stood still. */
  async function probe(): Promise<void> {
    while (isSlow && connection.status !== 'end') {
      const sentAtMs = performance.now();
      isProbe = true;
      const answer = connection.ping();
      isProbe = false;
      const isAnswered = await answer.then(
        () => true,
        () => false,
      );
      isSlow = !isAnswered || performance.now() - sentAtMs > quickMs;
      if (isSlow) {
        await wait(probeEveryMs, undefined, { ref: false });
      }
    }
  }
}
