/**
 * Aborts when `stopping` does, or after `limitMs` with a TimeoutError. In Node 20 a timeout inside
 * AbortSignal.any can be garbage-collected before it fires, which cannot happen to this timer.
 */
export function limitedSignal(stopping: AbortSignal, limitMs: number): AbortSignal {
  const controller = new AbortController();
  if (stopping.aborted) {
    controller.abort(stopping.reason);
    return controller.signal;
  }
  const timer = setTimeout(() => {
    controller.abort(new DOMException(`timed out after ${limitMs / 1_000} s`, 'TimeoutError'));
  }, limitMs);
  // The limit must not keep the process alive. The limited work does that.
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

/** True if the limit aborted the signal, and not `stopping`. */
export function hasTimedOut(signal: AbortSignal): boolean {
  return signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
}
