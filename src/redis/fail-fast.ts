/**
 * For commands that somebody waits for. The answers of a connection come in order: after one that did not come
 * in time, nothing behind it comes sooner. So from then on commands fail at once, until Redis has answered quickly again.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { logRedisError } from './say-error.js';

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
