import type { Dispatcher } from 'undici';

/** The time ended before a connection was ready. No byte of the request was written. */
export class ConnectLateError extends Error {
  override name = 'ConnectLateError';
  readonly code = 'CONNECT_TIMEOUT';
}

interface Limits {
  dispatcher: Dispatcher;
  timeoutMs: number;
  /** Runs in the same iteration of the event loop as the write. If it throws, nothing is written. */
  beforeWrite?: () => void;
}

/**
 * Runs a request and the reading of its response within `timeoutMs`. undici's own timers restart
 * with every byte, and its abort signal does not end the wait for a connection.
 * @param exchange Must use the dispatcher and the signal that it is given, for one request.
 * @throws ConnectLateError if the request will never be written.
 */
export async function runExchange<T>(
  { dispatcher, timeoutMs, beforeWrite }: Limits,
  exchange: (bounds: { dispatcher: Dispatcher; signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  const late = new ConnectLateError('No connection was ready in time');
  let isWritten = false;
  const beforeStart = () => {
    if (abort.signal.aborted) {
      throw late;
    }
    beforeWrite?.();
    isWritten = true;
  };
  let timer: NodeJS.Timeout | undefined;
  const unwritten = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      if (!isWritten) {
        reject(late);
      }
      abort.abort(new DOMException('The call took too long', 'TimeoutError'));
    }, timeoutMs);
  });
  try {
    const bounds = { dispatcher: watchStart(dispatcher, beforeStart), signal: abort.signal };
    return await Promise.race([exchange(bounds), unwritten]);
  } finally {
    clearTimeout(timer);
  }
}

/** Calls `beforeStart` before a request is written. If it throws, the connection stays open. */
function watchStart(dispatcher: Dispatcher, beforeStart: () => void): Dispatcher {
  return dispatcher.compose(
    (dispatch) => (options, handler) =>
      dispatch(options, {
        onRequestStart(controller, context) {
          beforeStart();
          handler.onRequestStart?.(controller, context);
        },
        onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
        onResponseStart: (...args) => handler.onResponseStart?.(...args),
        onResponseData: (...args) => handler.onResponseData?.(...args),
        onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
        onResponseError: (...args) => handler.onResponseError?.(...args),
      }),
  );
}
