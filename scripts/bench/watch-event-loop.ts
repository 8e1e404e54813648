/**
 * Preload (`node --import`) that measures event-loop delay. On each message, it reports the p99 in
 * milliseconds and resets the measurement.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const resolutionMs = 1;
const delay = monitorEventLoopDelay({ resolution: resolutionMs });
delay.enable();

process.on('message', (message: { eventLoop?: true }) => {
  if (message.eventLoop === true) {
    process.send?.({ answer: { p99Ms: delay.percentile(99) / 1e6 - resolutionMs } });
    delay.reset();
  }
});
// The channel must not keep a finished process alive.
process.channel?.unref();
