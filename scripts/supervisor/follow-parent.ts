/**
 * Preload (`node --import`) of every supervised process. If the supervisor dies, its IPC channel
 * closes and the process stops in order.
 */
const lastResortMs = 28_000;

process.once('disconnect', () => {
  setTimeout(() => process.exit(1), lastResortMs).unref();
  process.kill(process.pid, 'SIGTERM');
});
// The channel must not keep a finished process alive.
process.channel?.unref();

// The reader of our output may have exited. A write error must not prevent an orderly stop.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);
