/**
 * Preloaded (`node --import`) into every process that the supervisor starts: when the supervisor is gone, killed
 * or crashed, its end of the IPC channel closes and the process stops in order, so that nothing is left behind.
 */
const lastResortMs = 28_000;

process.once('disconnect', () => {
  setTimeout(() => process.exit(1), lastResortMs).unref();
  process.kill(process.pid, 'SIGTERM');
});
// Listening alone must not keep a process alive that has finished its work.
process.channel?.unref();

// Whoever read our output may be gone; that must not turn an orderly stop into a crash.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);
