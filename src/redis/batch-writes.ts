import type { Redis } from 'ioredis';

/**
 * Sends all commands of one iteration of the event loop in one write, because each write is a
 * system call and wakes Redis. Unlike in a pipeline, no command waits for the replies to others.
 * The order of the commands stays the same.
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
