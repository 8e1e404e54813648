import { logOncePerMinute } from '../shared/logger.js';
import { setTimeout as wait } from 'node:timers/promises';
import type { Redis } from 'ioredis';

/**
 * Logs an error from Redis, its connections or BullMQ, at most once a minute per code and `what`.
 * @param what The failure, from a small fixed set.
 */
export function logRedisError(what: string, error: unknown, details: Record<string, unknown> = {}): void {
  logOncePerMinute(what, getErrorCode(error), { ...details, error });
}

/**
 * Returns a short code such as `OOM`, `READONLY` or `ECONNREFUSED`. It is the code of a socket
 * error, or the first word of a Redis error. A `cause` takes precedence. For any other error it is
 * the class name.
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

const probeEveryMs = 100;
const quickMs = 250;

/**
 * Rejects commands at once while Redis is slow. Replies on a connection arrive in order, so one
 * late reply delays the replies to all later commands. Commands are sent again after Redis has
 * replied to a ping quickly.
 *
 * @param patienceMs The `commandTimeout` of this connection.
 */
export function failFast(connection: Redis, patienceMs: number): void {
  const send = connection.sendCommand.bind(connection);
  let isSlow = false;
  let isProbe = false;

  connection.sendCommand = (command, stream) => {
    // Until it is ready, a connection sends only the commands of its handshake.
    if (isSlow && !isProbe && connection.status === 'ready') {
      command.reject(new Error('Redis timed out; no command is sent until it responds again'));
      return command.promise;
    }
    const sentAtMs = performance.now();
    command.promise.catch((error: unknown) => {
      if (performance.now() - sentAtMs >= 0.9 * patienceMs && !isSlow) {
        isSlow = true;
        logRedisError('redis timed out; only work that needs it stops', error);
        void probe();
      }
    });
    return send(command, stream);
  };

  /** Sends the first ping at once, because the pause may have been in this process. */
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
