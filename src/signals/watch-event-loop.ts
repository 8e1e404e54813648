/** Each look wakes the process: so seldom that it costs little, so often that half a second is told from less. */
export const lookEveryMs = 50;
/** Together a minute. */
const slices = { count: 12, lastMs: 5_000 };

/**
 * The one who watches the event loop of this process, for Prometheus and for what it says of itself (decision 055). One
 * timer looks and begins the slices: Node's `monitorEventLoopDelay`, begun anew, forgets what follows until its next look.
 */
export function watchEventLoop(sliceMs = slices.lastMs): { lagMs(): number; stop(): void } {
  let lookedMs = performance.now();
  let beganMs = lookedMs;
  /** Of each slice the longest, the newest first. */
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
     * The longest that it was held up within the last minute, to whoever asks: a single time among a thousand looks is in no
     * percentile, and who asks next is to hear of it as well.
     */
    lagMs: () => Math.round(Math.max(...longest)),
    stop: () => clearInterval(looking),
  };
}
