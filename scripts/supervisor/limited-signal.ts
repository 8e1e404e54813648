/**
 * Aborts when `stopping` does, or after `limitMs` with a TimeoutError. In Node 20 a time-out inside
 * AbortSignal.any can be collected before it fires, and whoever waits for it waits for ever; this timer can't.
 */
export function limitedSignal(stopping: AbortSignal, limitMs: number): AbortSignal {
  const controller = new AbortController();
  if (stopping.aborted) {
    controller.abort(stopping.reason);
    return controller.signal;
  }
  const timer = setTimeout(() => {
    controller.abort(new DOMException(`not done within ${limitMs / 1_000} s`, 'TimeoutError'));
  }, limitMs);
  // The work that is limited keeps the process alive, not its limit.
  timer.unref();
  stopping.addEventListener(
    'abort',
    () => {
      clearTimeout(timer);
      controller.abort(stopping.reason);
    },
    { once: true, signal: controller.signal },
  );
  return controller.signal;
}

/** True where the limit, and not `stopping`, has aborted it. */
export function hasTimedOut(signal: AbortSignal): boolean {
  return signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
}
