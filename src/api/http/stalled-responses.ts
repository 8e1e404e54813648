import type { Socket } from 'node:net';

/** Number of checks within the stall timeout. */
const checksPerTimeout = 4;

/**
 * Ends the connections whose client reads nothing of its response. Node's own timeout restarts with
 * each byte that the client sends.
 * @param sockets Returns the open sockets.
 * @param times.stillMs Milliseconds that a response may stall.
 * @param times.atStopMs The limit after a call of `hurry`. Stalled time before the call counts.
 */
export function endStalledResponses(
  sockets: () => Iterable<Socket>,
  { stillMs, atStopMs }: { stillMs: number; atStopMs: number },
): { shortenTimeout(): void; stop(): void } {
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
    Math.min(stillMs, atStopMs) / checksPerTimeout,
  ).unref();
  return {
    shortenTimeout() {
      mayStandMs = Math.min(stillMs, atStopMs);
    },
    stop: () => clearInterval(timer),
  };
}

/**
 * Returns a text that changes whenever the client reads a part of the unsent data. Null if there is
 * no unsent data.
 * The kernel accepts more data only after it has sent much of its buffer, which is about a megabyte
 * on a fast connection. So a slow client may show no change for seconds.
 */
function describeUnsentData(socket: Socket): string | null {
  // Node reports a write only when all of it is done. libuv knows how much of it is left.
  const { _handle: handle } = socket as Socket & { _handle?: { writeQueueSize: number } | null };
  const queued = handle?.writeQueueSize ?? 0;
  return socket.writableLength + queued === 0
    ? null
    : `${queued} ${socket.writableLength} ${socket.bytesWritten}`;
}
