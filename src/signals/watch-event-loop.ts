/**
 * Interval of the timer in ms. It is long enough to be cheap, and short enough to detect half a
 * second.
 */
export const lookEveryMs = 50;
/** Slices that cover one minute together. */
const slices = { count: 12, lastMs: 5_000 };

/**
 * Watches the event loop of this process, for Prometheus and for its presence (decision 055). One
 * timer looks and starts the slices, because a restarted `monitorEventLoopDelay` misses delays
 * until its next look.
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
     * Returns the longest delay of the last minute in ms. It is not reset by reading, and it is no
     * percentile: one delay among a thousand looks must show.
     */
    lagMs: () => Math.round(Math.max(...longest)),
    stop: () => clearInterval(looking),
  };
}
