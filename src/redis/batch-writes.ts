import type { Redis } from 'ioredis';

/**
 * Commands that are sent in the same turn of the event loop leave in one write: each write is a call of the system of its own, by
 * which Redis is woken too. Nothing waits for an answer, unlike with a pipeline, and the order stays as it is.
 */
export function batchWrites(connection: Redis): void {
  connection.on('connect', () => {
    const { stream } = connection;
    const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
    let isHeld = false;
    stream.write = (...args: unknown[]) => {
      if (!isHeld) {
        isHeld = true;
        stream.cork();
        setImmediate(() => {
          isHeld = false;
          stream.uncork();
        });
      }
      return write(...args);
    };
  });
}
