/**
 * Timer interval in milliseconds. It is long enough to be cheap, and short enough to detect a delay
 * of half a second.
 */
export const lookEveryMs = 50;
/** The slices together cover one minute. */
const slices = { count: 12, lastMs: 5_000 };

/**
 * Watches the event loop of this process, for Prometheus and for its presence (decision 055). One
 * timer measures the delay and starts the slices. `monitorEventLoopDelay` is not used, because
 * after a restart it misses delays until its next sample.
 */
export function watchEventLoop(sliceMs = slices.lastMs): { lagMs(): number; stop(): void } {
  let lookedMs = performance.now();
  let beganMs = lookedMs;
  /** Longest delay of each slice, newest first. */
  let longest = [0];
  const looking = setInterval(() => {
    const nowMs = performance.now();
    longest[0] = Math.max(longest[0] ?? 0, nowMs - lookedMs - lookEveryMs);
    lookedMs = nowMs;
    if (nowMs - beganMs >= sliceMs) {
      beganMs = nowMs;
      longest = [0, ...longest].slice(0, 1 + slices.count);
    }
  }, lookEveryMs).unref();
  return {
    /**
     * Returns the longest delay of the last minute in milliseconds. Reading does not reset it. It
     * is not a percentile, because one delay among a thousand samples must be visible.
     */
    lagMs: () => Math.round(Math.max(...longest)),
    stop: () => clearInterval(looking),
  };
}
