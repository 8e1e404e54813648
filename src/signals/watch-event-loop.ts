import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Each look wakes the process: so seldom that it costs little, so often that half a second is told from less. */
export const lookEveryMs = 50;
/** Together a minute. */
const slices = { count: 12, lastMs: 5_000 };
const nanosecondsPerMs = 1_000_000;

/** The one who watches the event loop of this process, for Prometheus and for what it says of itself (decision 166). */
export function watchEventLoop(sliceMs = slices.lastMs): { lagMs(): number; stop(): void } {
  const delays = monitorEventLoopDelay({ resolution: lookEveryMs });
  delays.enable();
  const lagNow = () => Math.max(0, Math.round(delays.max / nanosecondsPerMs) - lookEveryMs);
  let earlier: number[] = [];
  // By the clock alone: begun anew by whoever asks just behind what has held it up, it would forget that before it was seen.
  const rolling = setInterval(() => {
    // When the monitor has looked in this turn too: begun anew before, it would forget what has just held both up.
    setImmediate(() => {
      earlier = [lagNow(), ...earlier].slice(0, slices.count);
      delays.reset();
    });
  }, sliceMs).unref();
  return {
    /**
     * The longest that it was held up within the last minute, to whoever asks: a single time among a thousand looks is in no
     * percentile, and who asks next is to hear of it as well.
     */
    lagMs: () => Math.max(lagNow(), ...earlier),
    stop() {
      clearInterval(rolling);
      delays.disable();
    },
  };
}
