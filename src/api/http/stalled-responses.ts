import type { Socket } from 'node:net';

/** Looks in the shortest time that an answer may stand still. */
const looks = 4;

/**
 * Ends the connections whose client takes nothing of its answer any more. What the client sends meanwhile does not count: Node's own
 * time begins anew with each byte of it.
 * @param sockets Those that there are.
 * @param times.stillMs How long an answer may stand still. @param times.atStopMs The same from `hurry` on, with what was before it.
 */
export function endStalledResponses(
  sockets: () => Iterable<Socket>,
  { stillMs, atStopMs }: { stillMs: number; atStopMs: number },
): { hurry(): void; stop(): void } {
  const seen = new WeakMap<Socket, { left: string; sinceMs: number }>();
  let mayStandMs = stillMs;
  const lookAt = (socket: Socket): void => {
    const left = describeUnsentData(socket);
    if (left === null) {
      seen.delete(socket);
      return;
    }
    const before = seen.get(socket);
    if (before?.left !== left) {
      seen.set(socket, { left, sinceMs: performance.now() });
    } else if (performance.now() - before.sinceMs >= mayStandMs) {
      socket.destroy();
    }
  };
  const timer = setInterval(
    () => {
      for (const socket of sockets()) {
        lookAt(socket);
      }
    },
    Math.min(stillMs, atStopMs) / looks,
  ).unref();
  return {
    hurry() {
      mayStandMs = Math.min(stillMs, atStopMs);
    },
    stop: () => clearInterval(timer),
  };
}

/**
 * What waits until the client takes it, in any measure that changes when it takes a part; null: nothing. The system takes more only
 * when much of what it has is gone (a megabyte or so, where a connection was once fast): of a slow client nothing is seen for seconds.
 */
function describeUnsentData(socket: Socket): string | null {
  // Of what Node has handed to the system in one piece it tells only the end; how much of it is left is libuv's to say.
  const { _handle: handle } = socket as Socket & { _handle?: { writeQueueSize: number } | null };
  const queued = handle?.writeQueueSize ?? 0;
  return socket.writableLength + queued === 0
    ? null
    : `${queued} ${socket.writableLength} ${socket.bytesWritten}`;
}
