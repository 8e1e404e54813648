/**
 * Preloaded (`node --import`) into a process whose event loop is watched: asked by a message, it tells how long the loop was held up, in
 * milliseconds, and begins anew.
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
// Listening alone must not keep a process alive that has finished its work.
process.channel?.unref();
